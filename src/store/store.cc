// Opening a store, and the face that hands each call to its file.
#include "store/store.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/log.h"
#include "store/block_walk.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

// Blocks that the admission sketch is sized for when the flash tier does not say how many fit.
constexpr std::uint64_t kBlockBytesTypical = 256 * kKiB;

// What may wait in the scheduler, reads and writes each.
constexpr std::uint64_t kScheduledBytesMax = kGiB;

void abandon(SharedState state);

class TieredStore final : public Store {
 public:
  explicit TieredStore(SharedState state) : state_(std::move(state)) {}
  // Work in flight holds the state; it finds the store closed and starts nothing more.
  ~TieredStore() override { abandon(std::move(state_)); }

  Result<SpaceId> register_space(const KeySpace& space) override {
    return state_->spaces.register_space(space.tenant, space.layout_fingerprint);
  }
  const KeySpace& space(SpaceId id) const override { return state_->spaces.space(id); }
  LookupResult lookup(std::span<const BlockId> chain, SpaceId space) override {
    return lookup_chain(*state_, chain, space);
  }
  std::optional<std::uint32_t> block_bytes(const BlockId& id) const override {
    const Slot slot = state_->index().find(id);
    if (slot == kNoSlot || !state_->index().entry(slot).present()) return std::nullopt;
    return state_->index().entry(slot).data_bytes;
  }
  Task<GetSummary> get(std::span<GetItem> items, CallOptions call) override {
    return get_blocks(state_, items, call);
  }
  Task<void> put(std::span<PutItem> items, CallOptions call) override {
    return put_blocks(state_, items, call);
  }
  void touch(std::span<const BlockId> chain, SpaceId space) override {
    touch_chain(*state_, chain, space);
  }
  void prefetch(std::span<const BlockId> chain, CallOptions call) override {
    state_->prefetcher.start(*state_, chain, call);
  }
  Task<Status> remove(std::span<const BlockId> ids, CallOptions call) override {
    return remove_blocks(state_, ids, call);
  }
  Task<Status> flush(CallOptions call) override { return flush_store(state_, call); }
  void observe_prefill(std::uint64_t tokens, Nanos took) override {
    state_->cost.observe_prefill(tokens, took);
  }
  Task<Result<FlashTier::VerifyResult>> verify(CallOptions call) override {
    return verify_store(state_, call);
  }
  Task<Status> close() override { return close_store(state_); }
  StoreStats stats() const override { return collect_stats(*state_); }
  void set_telemetry(bool on) override { state_->options.telemetry = on; }
  std::vector<Entry> list() const override { return list_blocks(*state_); }
  std::unique_ptr<BlockWalk> walk(std::string tenant) override {
    return walk_blocks(state_, std::move(tenant));
  }

 private:
  SharedState state_;
};

Status check_options(const StoreOptions& options) {
  if (options.dram_bytes == 0 && options.write_back_bytes_max == 0) {
    return fail(Errc::kInvalid, "a store without DRAM needs write_back_bytes_max");
  }
  return {};
}

Result<std::unique_ptr<policy::Policy>> policy_for(std::string_view name,
                                                   std::uint64_t tier_bytes) {
  const policy::PolicyOptions options{.capacity_blocks = tier_bytes / kBlockBytesTypical};
  auto made = policy::make_policy(name, options);
  if (made == nullptr) return fail(Errc::kInvalid, "no eviction policy of that name");
  return made;
}

// A device with requests in flight must not go. Who is still pending when even the loop has gone
// will not be missed.
struct KeepWhilePending {
  void operator()(block::ScheduledDevice* device) const {
    device->detach();
    if (device->pending() == 0) delete device;
  }
};

// Outlives the store until the device has let go of everything; a turn of the loop at least, for a
// store may be destroyed from inside one of the device's own completions.
Task<void> linger(io::Loop* loop, std::shared_ptr<block::ScheduledDevice> device) {
  constexpr Nanos kLook{1'000'000};
  do {
    co_await loop->sleep_for(kLook);
  } while (device.use_count() > 1 || device->pending() > 0);
}

std::shared_ptr<block::ScheduledDevice> schedule(const StoreState& state, block::Device* device) {
  qos::SchedulerOptions options;
  options.in_flight_bytes_max = state.options.flash_options.read_in_flight_bytes_max;
  std::shared_ptr<block::ScheduledDevice> scheduled(
      block::ScheduledDevice::make(device, options).release(), KeepWhilePending{});
  for (TenantId tenant = 0; tenant < state.spaces.tenant_count(); ++tenant) {
    const TenantQuota& quota = state.spaces.quota(tenant);
    scheduled->set_limits(tenant, {.weight = std::max(quota.share, 1U),
                                   .bytes_per_second_max = quota.bytes_per_second_max,
                                   .operations_per_second_max = quota.operations_per_second_max});
  }
  return scheduled;
}

// The device gets nothing more from the next turn on, so that whoever owns it may let it go once it
// is idle. Not here and now: that would run the callers' code inside the destructor.
void abandon(SharedState state) {
  state->closed = true;
  state->abandoned = true;
  state->prefetcher.changed().notify_all();
  if (state->scheduled == nullptr) return;
  io::Loop* loop = state->loop;
  auto device = state->scheduled;
  state.reset();
  loop->post([device] { device->detach(); });
  loop->spawn(linger(loop, std::move(device)));
}

}  // namespace

StoreState::StoreState(io::Loop* loop_of_core, StoreOptions open_options)
    : loop(loop_of_core),
      options(std::move(open_options)),
      spaces(options.quotas),
      cost(options.prefill_ns_per_token),
      write_back(*loop_of_core, options.write_back_bytes_max),
      learning(*loop_of_core),
      prefetcher(*loop_of_core, options.prefetch_bytes_max) {}

Result<SharedState> make_state(io::Loop* loop, StoreOptions options) {
  FOREBAY_TRY_STATUS(check_options(options));
  auto state = std::make_shared<StoreState>(loop, std::move(options));
  const StoreOptions& wanted = state->options;
  const bool staging = wanted.dram_bytes == 0;
  FOREBAY_TRY(dram, DramTier::make(staging ? wanted.write_back_bytes_max : wanted.dram_bytes,
                                   wanted.dram_populated ? DramTier::Pages::kAtOnce
                                                         : DramTier::Pages::kAsUsed));
  const std::uint64_t flash_bytes =
      wanted.flash == nullptr ? 0 : wanted.flash->geometry().size_bytes;
  ResidencyParts parts;
  parts.spaces = &state->spaces;
  parts.dram = std::move(dram);
  parts.staging = staging;
  FOREBAY_TRY(dram_policy, policy_for(wanted.policy, wanted.dram_bytes));
  FOREBAY_TRY(flash_policy, policy_for(wanted.policy, flash_bytes));
  parts.dram_policy = std::move(dram_policy);
  parts.flash_policy = std::move(flash_policy);
  state->residency = std::make_unique<Residency>(std::move(parts));
  const std::uint64_t blocks_expected = (flash_bytes + wanted.dram_bytes) / kBlockBytesTypical;
  FOREBAY_TRY(admission, make_admission(wanted.admission, blocks_expected));
  state->admission = std::move(admission);
  return state;
}

std::unique_ptr<Store> make_store(SharedState state) {
  return std::make_unique<TieredStore>(std::move(state));
}

Task<Result<std::unique_ptr<Store>>> Store::open(io::Loop* loop, StoreOptions options) {
  if (options.dram_bytes == 0 && options.flash == nullptr) {
    co_return fail(Errc::kInvalid, "a store needs DRAM or a flash device");
  }
  FOREBAY_CO_TRY(state, make_state(loop, std::move(options)));
  state->recovery = std::make_unique<Recovery>(state->residency.get(), &state->spaces);
  if (block::Device* device = state->options.flash; device != nullptr) {
    state->scheduled = schedule(*state, device);
    // The scheduler bounds what the device holds; a bound before it would be first come first
    // served, and one tenant's queue every tenant's wait.
    FlashOptions flash_options = state->options.flash_options;
    flash_options.read_in_flight_bytes_max =
        std::max(flash_options.read_in_flight_bytes_max, kScheduledBytesMax);
    flash_options.write_in_flight_bytes_max =
        std::max(flash_options.write_in_flight_bytes_max, kScheduledBytesMax);
    auto flash = co_await FlashTier::open(state->scheduled.get(), state.get(), flash_options);
    if (!flash) {
      abandon(std::move(state));
      co_return std::unexpected(flash.error());
    }
    state->flash = std::move(*flash);
    finish_recovery(*state);
  }
  co_return make_store(std::move(state));
}

const char* to_string(MissReason reason) {
  constexpr std::array<const char*, kMissReasonCount> kNames{
      "none", "absent", "corrupt", "timed_out", "cancelled", "device", "busy", "length"};
  return kNames[static_cast<std::size_t>(reason)];
}

const char* to_string(Tier tier) {
  constexpr std::array<const char*, kTierCount> kNames{"none", "dram", "flash"};
  return kNames[static_cast<std::size_t>(tier)];
}

}  // namespace forebay::store

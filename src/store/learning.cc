#include "store/learning.h"

#include <array>

#include "core/log.h"
#include "store/learning_format.h"
#include "store/policy/reuse_model.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

// Flash first: where there is room for one, it is the one that blocks outlive a restart in.
constexpr std::array kTiers{Tier::kFlash, Tier::kDram};

policy::Policy* policy_of(StoreState& state, Tier tier) {
  if (tier == Tier::kDram) return &state.residency->dram_policy();
  return tier == Tier::kFlash ? &state.residency->flash_policy() : nullptr;
}

bool restore_model(StoreState& state, const LearnedModel& model) {
  policy::Policy* policy = policy_of(state, model.tier);
  if (policy == nullptr) return false;
  if (policy->name() != model.policy) {
    log_info("store: {} starts without what it learned: policy was {}, is {}",
             to_string(model.tier), model.policy, policy->name());
    return false;
  }
  const Status restored = policy->restore(model.state);
  if (restored) return true;
  log_warn("store: {} starts without what it learned: {}", to_string(model.tier),
           to_string(restored.error()));
  return false;
}

}  // namespace

void Learning::restore(StoreState& state, std::span<const std::byte> bytes) {
  const auto learned = decode_learned(bytes);
  if (!learned) {
    log_warn("store: starts without what it learned: {}", to_string(learned.error()));
    return;
  }
  // In their order, so that each has the number by which the models know it.
  for (const LearnedSpace& space : learned->spaces) {
    if (!state.spaces.register_space(space.tenant, space.layout_fingerprint)) break;
  }
  for (const LearnedModel& model : learned->models) {
    counts_.restored_models += restore_model(state, model);
  }
}

void Learning::note_request(StoreState& state) {
  learned_ = true;
  if (writing_ || state.closed || state.now() - written_at_ < kEvery) return;
  if (state.flash == nullptr || state.flash->kept_bytes_max() == 0) return;
  written_at_ = state.now();
  state.loop->spawn(write(state.shared_from_this()));
}

Task<void> Learning::finish(std::shared_ptr<StoreState> state) {
  while (writing_) co_await done_.wait();
  if (learned_ && state->flash->kept_bytes_max() > 0) co_await write(state);
}

Task<void> Learning::write(std::shared_ptr<StoreState> state) {
  Learning& learning = state->learning;
  learning.writing_ = true;
  const Status written = co_await learning.write_now(*state);
  learning.writing_ = false;
  learning.done_.notify_all();
  if (written || state->abandoned) co_return;
  // Of a device that takes no writes its own mode tells.
  const Errc why = written.error().code;
  if (why == Errc::kReadOnly || why == Errc::kGone) co_return;
  log_warn("store: what was learned is not saved: {}", to_string(written.error()));
}

Task<Status> Learning::write_now(StoreState& state) {
  Learned learned;
  for (std::uint16_t number = 0; number < kLearnedSpacesMax && state.spaces.known(SpaceId{number});
       ++number) {
    const KeySpace& space = state.spaces.space(SpaceId{number});
    learned.spaces.push_back({space.tenant, space.layout_fingerprint});
  }
  std::array<std::vector<std::byte>, kTiers.size()> states;
  for (std::size_t i = 0; i < kTiers.size(); ++i) {
    // Blocks that only wait for flash teach nothing about DRAM.
    if (kTiers[i] == Tier::kDram && state.residency->staging()) continue;
    const policy::Policy* policy = policy_of(state, kTiers[i]);
    states[i] = policy->save();
    if (states[i].empty()) continue;
    learned.models.push_back({kTiers[i], policy->name(), states[i]});
    co_await state.loop->yield();
  }
  learned_ = false;
  if (learned.models.empty()) co_return Status{};
  const EncodedLearning encoded = encode_learned(learned, state.flash->kept_bytes_max());
  if (encoded.left_out_models > 0) {
    ++counts_.too_large;
    if (!std::exchange(said_too_large_, true)) {
      log_info("store: what was learned is more than the flash device has room for: {} of {} saved",
               learned.models.size() - encoded.left_out_models, learned.models.size());
    }
  }
  if (encoded.left_out_models == learned.models.size()) co_return Status{};
  FlashCall call;
  call.io.op_class = block::OpClass::kCheckpoint;
  call.io.deadline = state.now() + kWithin;
  const Status kept = co_await state.flash->keep(encoded.bytes, std::move(call));
  if (kept) ++counts_.writes;
  co_return kept;
}

}  // namespace forebay::store

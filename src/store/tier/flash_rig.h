// For the flash tier's tests: a tier on a simulated disk, and an owner that keeps a map.
//
// The disk outlives engines and tiers, so a test can crash, cut the power and open again. Blocks'
// bytes are a function of their number: any other byte that is delivered as good is a wrong one.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "block/file.h"
#include "core/bytes.h"
#include "core/rng.h"
#include "io/sim.h"
#include "store/tier/flash.h"

namespace forebay::store {

inline constexpr const char* kRigPath = "flash";

[[nodiscard]] inline BlockId rig_id(std::uint64_t number) {
  return make_block_id({"tenant", "layout"}, bytes_of(number));
}

inline void rig_fill(std::span<std::byte> bytes, std::uint64_t number) {
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = mix64(number * 1'000'003 + i);
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, bytes.size() - i));
  }
}

class MapOwner final : public FlashOwner {
 public:
  struct Known {
    FlashPage page = kNoFlashPage;
    std::uint32_t data_bytes = 0;
    std::uint32_t heat = 0;
    BlockId parent;
    std::string tenant;
    std::string layout;
    std::uint32_t token_count = 0;
    std::uint32_t chain_depth = 0;
  };

  void on_recovered(const RecordFacts& facts, FlashPage page) override {
    known[facts.id] = {page,
                       facts.data_bytes,
                       facts.heat,
                       facts.parent,
                       std::string(facts.tenant),
                       std::string(facts.layout_fingerprint),
                       facts.token_count,
                       facts.chain_depth};
  }
  bool is_live(const BlockId& id, FlashPage page) override {
    const auto at = known.find(id);
    return at != known.end() && at->second.page == page;
  }
  double worth(const BlockId& id, FlashPage) override {
    const auto at = worths.find(id);
    return at == worths.end() ? 1.0 : at->second;
  }
  void on_moved(const BlockId& id, FlashPage from, FlashPage to) override {
    ++moved;
    if (is_live(id, from)) known[id].page = to;
  }
  void on_dropped(const BlockId& id, FlashPage page) override {
    dropped_ids.insert(id);
    if (is_live(id, page)) known.erase(id);
  }
  std::uint32_t heat_of(const BlockId& id, FlashPage) override {
    const auto at = known.find(id);
    return at == known.end() ? 0 : at->second.heat;
  }

  void on_kept(std::span<const std::byte> bytes) override {
    ++kept_calls;
    kept.assign(bytes.begin(), bytes.end());
  }

  std::map<BlockId, Known> known;
  std::vector<std::byte> kept;
  int kept_calls = 0;
  std::map<BlockId, double> worths;
  std::uint64_t moved = 0;
  std::set<BlockId> dropped_ids;
};

[[nodiscard]] inline Task<void> pause(io::Loop* loop, Nanos span) {
  co_await loop->sleep_for(span);
}

struct RigOptions {
  std::uint64_t device_bytes = 4 << 20;
  std::uint64_t seed = 1;
  bool read_only = false;  // how the device is opened from the next power_on() on
  FlashOptions flash;
  io::SimOptions sim;
};

class FlashRig {
 public:
  explicit FlashRig(RigOptions options = {}) : options_(std::move(options)) {
    disk_ = std::make_shared<io::SimDisk>();
    options_.flash.format = true;
    power_on();
  }
  ~FlashRig() { power_off(); }

  // A new engine, loop and device on the same disk, as after a restart.
  void power_on() {
    io::SimOptions sim = options_.sim;
    sim.seed = options_.seed + 1000 * ++lives_;
    engine = std::make_unique<io::SimEngine>(sim, disk_);
    arm_cut();
    loop = std::make_unique<io::Loop>(*engine);
    block::OpenDevice open;
    open.size_bytes = options_.device_bytes;
    open.write = !options_.read_only;
    open.create = open.write;
    device = block::open_file_device(*loop, kRigPath, open).value();
  }
  // The process is gone; what was written stays written.
  void power_off() {
    tier.reset();
    drain();
    device.reset();
    loop.reset();
    if (engine != nullptr) writes_before_ += engine->writes_started();
    engine.reset();
  }
  // The power goes after this many writes, counted over all lives.
  void cut_power_after_writes(std::uint64_t writes) {
    cut_after_ = writes;
    if (engine != nullptr) arm_cut();
  }
  [[nodiscard]] std::uint64_t writes_started() const {
    return writes_before_ + (engine == nullptr ? 0 : engine->writes_started());
  }
  // Completions that a stuck or slow device still owes.
  void drain() {
    if (engine == nullptr) return;
    engine->release_stuck();
    for (int i = 0; i < 100; ++i) loop->turn();
  }
  [[nodiscard]] Status open() {
    owner = std::make_unique<MapOwner>();
    auto opened = loop->run(FlashTier::open(device.get(), owner.get(), options_.flash));
    if (!opened) return std::unexpected(opened.error());
    tier = std::move(*opened);
    return {};
  }
  [[nodiscard]] Status reopen() {
    power_off();
    power_on();
    return open();
  }
  [[nodiscard]] RigOptions& options() { return options_; }
  [[nodiscard]] io::SimDisk& disk() { return *disk_; }
  [[nodiscard]] io::SimFile& file() { return *disk_->find(kRigPath); }

  // Appends blocks [first, first + count) as one chain; tells the owner what stands.
  std::vector<Status> append(std::uint64_t first, std::size_t count, std::uint32_t data_bytes,
                             FlashCall call = {}) {
    return loop->run(append_chain(this, first, count, data_bytes, std::move(call)));
  }
  static Task<std::vector<Status>> append_chain(FlashRig* rig, std::uint64_t first,
                                                std::size_t count, std::uint32_t data_bytes,
                                                FlashCall call) {
    std::vector<FlashAppend> items(count);
    auto memory = std::make_shared<std::vector<Lent>>();
    for (std::size_t i = 0; i < count; ++i) memory->emplace_back(data_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      Lent& lent = (*memory)[i];
      rig_fill(lent.bytes(), first + i);
      FlashAppend& item = items[i];
      item.facts.id = rig_id(first + i);
      item.facts.parent = i == 0 ? kNoParent : rig_id(first + i - 1);
      item.facts.tenant = "tenant";
      item.facts.layout_fingerprint = "layout";
      item.facts.engine_key = std::as_bytes(std::span("key"));
      item.facts.data_bytes = data_bytes;
      item.facts.token_count = 16;
      item.facts.chain_depth = static_cast<std::uint32_t>(i);
      item.data.pieces = {&lent.piece, 1};
      item.data.owner = memory;
    }
    co_await rig->tier->append(items, std::move(call));
    std::vector<Status> statuses;
    for (const FlashAppend& item : items) {
      statuses.push_back(item.status);
      if (item.status) rig->owner->on_recovered(item.facts, item.page);
    }
    co_return statuses;
  }

  struct ReadOutcome {
    std::vector<Status> statuses;
    std::size_t good = 0;
    std::size_t wrong = 0;  // delivered as good, with other bytes than theirs
  };
  ReadOutcome read(const std::vector<std::uint64_t>& numbers, FlashCall call = {}) {
    return loop->run(read_blocks(this, numbers, std::move(call)));
  }
  static Task<ReadOutcome> read_blocks(FlashRig* rig, std::vector<std::uint64_t> numbers,
                                       FlashCall call) {
    std::vector<FlashRead> items(numbers.size());
    auto memory = std::make_shared<std::vector<Lent>>();
    for (const std::uint64_t number : numbers) {
      memory->emplace_back(rig->owner->known[rig_id(number)].data_bytes);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const MapOwner::Known& known = rig->owner->known[rig_id(numbers[i])];
      items[i].id = rig_id(numbers[i]);
      items[i].page = known.page;
      items[i].data_bytes = known.data_bytes;
      items[i].data.pieces = {&(*memory)[i].piece, 1};
      items[i].data.owner = memory;
    }
    co_await rig->tier->read(items, std::move(call));
    ReadOutcome outcome;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      outcome.statuses.push_back(items[i].status);
      if (!items[i].status) continue;
      std::vector<std::byte> expected(items[i].data_bytes);
      rig_fill(expected, numbers[i]);
      const auto got = (*memory)[i].bytes();
      (std::ranges::equal(got, expected) ? outcome.good : outcome.wrong) += 1;
    }
    co_return outcome;
  }

  std::unique_ptr<io::SimEngine> engine;
  std::unique_ptr<io::Loop> loop;
  std::unique_ptr<block::Device> device;
  std::unique_ptr<MapOwner> owner;
  std::unique_ptr<FlashTier> tier;

  // One piece of memory, page aligned as an engine's pool is.
  struct Lent {
    explicit Lent(std::size_t size)
        : storage(static_cast<std::byte*>(std::aligned_alloc(4096, round_up(size + 1, 4096)))),
          piece{storage.get(), size} {}
    struct Free {
      void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> storage;
    iovec piece;
    [[nodiscard]] std::span<std::byte> bytes() const { return {storage.get(), piece.iov_len}; }
  };

 private:
  RigOptions options_;
  std::shared_ptr<io::SimDisk> disk_;
  void arm_cut() {
    const std::uint64_t writes = writes_started();
    if (cut_after_ != kNoCut && cut_after_ >= writes) {
      engine->cut_power_after_writes(cut_after_ - writes);
    }
  }

  static constexpr std::uint64_t kNoCut = ~std::uint64_t{0};
  std::uint64_t lives_ = 0;
  std::uint64_t writes_before_ = 0;
  std::uint64_t cut_after_ = kNoCut;
};

}  // namespace forebay::store

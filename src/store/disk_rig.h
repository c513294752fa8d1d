// For the store's tests over the real flash tier: a store on a simulated disk that outlives it, so
// that a test can close, kill, cut the power and open again.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "block/file.h"
#include "block/stripe.h"
#include "io/sim.h"
#include "store/test_rig.h"

namespace forebay::store {

class DiskRig {
 public:
  static constexpr std::size_t kBlockBytes = 8192;

  // On one file, or on a stripe over `parts` of them.
  DiskRig(StoreOptions options, std::uint64_t device_bytes, std::uint64_t seed,
          std::size_t parts = 1)
      : options_(std::move(options)), device_bytes_(device_bytes), seed_(seed), parts_(parts) {
    options_.flash_options.format = true;
    power_on();
  }
  ~DiskRig() { kill(); }

  void power_on() {
    io::SimOptions sim;
    sim.seed = seed_ + 1000 * ++lives_;
    engine = std::make_unique<io::SimEngine>(sim, disk_);
    loop = std::make_unique<io::Loop>(*engine);
    device = open_device();
  }
  // The process is gone without a word; what reached the disk stays.
  void kill() {
    store.reset();
    if (engine == nullptr) return;
    engine->release_stuck();
    for (int i = 0; i < 1000 && loop->spawned_count() > 0; ++i) loop->turn();
    device.reset();
    loop.reset();
    engine.reset();
  }
  [[nodiscard]] Status open() {
    StoreOptions options = options_;
    options.flash = device.get();
    auto opened = loop->run(Store::open(loop.get(), std::move(options)));
    if (!opened) return std::unexpected(opened.error());
    store = std::move(*opened);
    space = store->register_space({.tenant = "t", .layout_fingerprint = "layout"}).value();
    return {};
  }
  [[nodiscard]] Status reopen() {
    kill();
    power_on();
    return open();
  }
  [[nodiscard]] Status close() { return loop->run(store->close()); }

  std::vector<Status> put(std::uint64_t first, std::size_t count, Nanos patience = kPatience) {
    std::deque<TestBuffer> buffers;
    std::vector<PutItem> items(count);
    for (std::size_t i = 0; i < count; ++i) {
      buffers.emplace_back(kBlockBytes);
      fill_block(buffers.back().bytes, first + i);
      items[i].id = test_id(first + i);
      items[i].parent = i == 0 ? kNoParent : test_id(first + i - 1);
      items[i].engine_key = bytes_of(first);
      items[i].data = buffers.back().lend();
      items[i].token_count = 16;
      items[i].chain_depth = static_cast<std::uint32_t>(i);
    }
    loop->run(store->put(items, {.space = space, .deadline = loop->now() + patience}));
    std::vector<Status> statuses;
    for (const PutItem& item : items) statuses.push_back(item.status);
    return statuses;
  }
  struct Got {
    std::vector<MissReason> misses;
    std::size_t leading_blocks = 0;
    std::size_t wrong_blocks = 0;
    Nanos took{0};
  };
  Got get(std::uint64_t first, std::size_t count, Nanos patience = kPatience) {
    // Owned, so that a device which still writes after the deadline writes into living memory.
    auto buffers = std::make_shared<std::deque<TestBuffer>>();
    std::vector<GetItem> items(count);
    for (std::size_t i = 0; i < count; ++i) {
      buffers->emplace_back(kBlockBytes);
      items[i].id = test_id(first + i);
      items[i].buffer = {.pieces = buffers->back().pieces, .owner = buffers};
    }
    Got got;
    CallOptions call{.space = space, .deadline = loop->now() + patience};
    const GetSummary summary =
        loop->run(StoreRig::timed_get(store.get(), items, call, loop.get(), &got.took));
    got.leading_blocks = summary.leading_blocks;
    std::vector<std::byte> expected(kBlockBytes);
    for (std::size_t i = 0; i < count; ++i) {
      got.misses.push_back(items[i].miss);
      if (items[i].miss != MissReason::kNone) continue;
      fill_block(expected, first + i);
      got.wrong_blocks += (*buffers)[i].bytes != expected;
    }
    return got;
  }
  std::size_t lookup(std::uint64_t first, std::size_t count) {
    std::vector<BlockId> chain;
    for (std::size_t i = 0; i < count; ++i) chain.push_back(test_id(first + i));
    return store->lookup(chain, space).present_blocks;
  }
  [[nodiscard]] Status flush() { return loop->run(store->flush()); }
  [[nodiscard]] Status remove(std::uint64_t number) {
    const std::vector<BlockId> ids{test_id(number)};
    return loop->run(store->remove(ids, {.space = space, .deadline = loop->now() + kPatience}));
  }
  // What the device holds, behind everybody's back.
  [[nodiscard]] io::SimFile& file() { return *disk_->find("flash"); }
  [[nodiscard]] FlashStats flash_stats() const { return store->stats().flash; }

  [[nodiscard]] StoreOptions& options() { return options_; }

  static constexpr Nanos kPatience{2'000'000'000};
  std::unique_ptr<io::SimEngine> engine;
  std::unique_ptr<io::Loop> loop;
  std::unique_ptr<block::Device> device;
  std::unique_ptr<Store> store;
  SpaceId space;

 private:
  [[nodiscard]] std::unique_ptr<block::Device> open_device() {
    constexpr std::uint64_t kUnitBytes = 64 << 10;
    block::OpenDevice open;
    open.size_bytes = device_bytes_ / parts_;
    open.create = true;
    if (parts_ == 1) return block::open_file_device(*loop, "flash", open).value();
    std::vector<std::unique_ptr<block::Device>> parts;
    for (std::size_t part = 0; part < parts_; ++part) {
      const std::string path = "flash" + std::to_string(part);
      parts.push_back(block::open_file_device(*loop, path, open).value());
    }
    return block::make_stripe(std::move(parts), kUnitBytes).value();
  }

  StoreOptions options_;
  std::uint64_t device_bytes_;
  std::uint64_t seed_;
  std::size_t parts_;
  std::uint64_t lives_ = 0;
  std::shared_ptr<io::SimDisk> disk_ = std::make_shared<io::SimDisk>();
};

}  // namespace forebay::store

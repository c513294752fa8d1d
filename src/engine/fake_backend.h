// Tests only: a backend that keeps real bytes in memory, at a chosen rate, with chosen faults.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "engine/kv_backend.h"
#include "io/loop.h"

namespace forebay::engine {

class FakeBackend final : public KvBackend {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kFlipBit,  // in the second block delivered
    kForeign,  // the bytes of another block in the last one
    kNeverAnswers,
    kLateWriter,  // ends at its deadline with nothing, writes 20 ms after that
    kHalf,        // delivers half of what it was asked for
  };

  explicit FakeBackend(io::Loop* loop) : loop_(loop), never_(*loop) {}

  double bytes_per_second = 0;  // 0: no time
  Fault fault = Fault::kNone;
  bool saves_end = true;
  std::map<store::BlockId, std::vector<std::byte>> blocks;
  std::size_t lookup_count = 0;
  std::size_t load_count = 0;
  std::size_t save_count = 0;
  std::size_t loads_now = 0;
  std::size_t loads_now_max = 0;
  bool interrupted = false;
  std::vector<std::pair<std::uint64_t, Nanos>> prefills;
  std::size_t touched_blocks = 0;
  std::size_t prefetched_blocks = 0;

  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] KvLookup lookup(std::span<const store::BlockId> chain) override {
    ++lookup_count;
    std::size_t run = 0;
    while (run < chain.size() && blocks.contains(chain[run])) ++run;
    return {run, run};
  }
  [[nodiscard]] Task<KvLoad> load(std::span<KvBlock> wanted, std::uint64_t,
                                  Nanos deadline) override {
    ++load_count;
    loads_now_max = std::max(loads_now_max, ++loads_now);
    if (fault == Fault::kNeverAnswers) co_await never_.wait();
    if (fault == Fault::kLateWriter) {
      loop_->spawn(write_late(wanted[0], deadline + std::chrono::milliseconds(20)));
      co_await loop_->sleep_until(deadline);
      --loads_now;
      co_return KvLoad{};
    }
    KvLoad report;
    const std::size_t count = fault == Fault::kHalf ? wanted.size() / 2 : wanted.size();
    for (std::size_t i = 0; i < count; ++i) deliver(wanted, i, report);
    if (bytes_per_second > 0) {
      const double seconds = static_cast<double>(report.bytes_by_tier[1]) / bytes_per_second;
      co_await loop_->sleep_for(Nanos(static_cast<std::int64_t>(seconds * 1e9)));
    }
    --loads_now;
    co_return report;
  }
  [[nodiscard]] Task<void> save(std::span<KvBlock> offered, std::uint64_t) override {
    ++save_count;
    for (const KvBlock& block : offered) {
      blocks[block.id].assign(block.bytes.begin(), block.bytes.end());
    }
    if (!saves_end) co_await never_.wait();
  }
  void touch(std::span<const store::BlockId> chain) override { touched_blocks += chain.size(); }
  void prefetch(std::span<const store::BlockId> chain, std::uint64_t) override {
    prefetched_blocks += chain.size();
  }
  void observe_prefill(std::uint64_t tokens, Nanos took) override {
    prefills.emplace_back(tokens, took);
  }
  void interrupt() override {
    interrupted = true;
    never_.set();
  }
  [[nodiscard]] Task<void> drain() override { co_return; }
  [[nodiscard]] Task<void> close() override { co_return; }
  [[nodiscard]] store::StoreStats stats() const override { return {}; }
  [[nodiscard]] std::vector<KvOp> take_ops() override { return {}; }

 private:
  void deliver(std::span<KvBlock> wanted, std::size_t i, KvLoad& report) {
    const auto& kept = blocks.at(wanted[i].id);
    std::ranges::copy(kept, wanted[i].bytes.begin());
    if (fault == Fault::kFlipBit && i == 1) wanted[i].bytes[100] ^= std::byte{4};
    if (fault == Fault::kForeign && i + 1 == wanted.size()) {
      std::ranges::copy(wanted[0].bytes, wanted[i].bytes.begin());
    }
    ++report.leading_blocks;
    ++report.blocks_by_tier[1];
    report.bytes_by_tier[1] += kept.size();
  }
  // As a device does that was asked to cancel: it still owns the memory for a while.
  Task<void> write_late(KvBlock block, Nanos at) {
    co_await loop_->sleep_until(at);
    std::ranges::fill(block.bytes, std::byte{0xee});
  }

  io::Loop* loop_;
  io::Event never_;
};

}  // namespace forebay::engine

// For the store's tests: virtual time without an engine, a flash tier in memory whose faults and
// speed the test sets, and blocks whose bytes are a function of their number.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/bytes.h"
#include "core/rng.h"
#include "io/loop.h"
#include "store/pieces.h"
#include "store/store_state.h"

namespace forebay::store {

// Waiting is the passing of time, and nothing else happens.
class VirtualEngine final : public io::Engine {
 public:
  std::string_view name() const override { return "virtual"; }
  const Clock& clock() const override { return clock_; }
  Result<io::FileId> open(const std::string&, const io::OpenOptions&) override { return refuse(); }
  const io::FileFacts& facts(io::FileId) const override { return facts_; }
  Status allocate(io::FileId, std::uint64_t) override { return refuse(); }
  void close(io::FileId) override {}
  Result<io::FileId> listen(const void*, std::uint32_t) override { return refuse(); }
  Result<io::FileId> socket(int) override { return refuse(); }
  Result<std::uint16_t> local_port(io::FileId) const override { return refuse(); }
  Status submit(io::Op&) override { return refuse(); }
  std::size_t ops_max() const override { return 0; }
  void cancel(io::Op&) override {}
  std::size_t poll(Nanos wait) override {
    clock_.advance(wait);
    return 0;
  }
  void wake() override {}

 private:
  static std::unexpected<Error> refuse() { return fail(Errc::kUnsupported, "virtual engine"); }
  ManualClock clock_;
  io::FileFacts facts_;
};

// A flash tier that keeps records in a map and serves one request after another.
class FakeFlash final : public FlashTier {
 public:
  struct Record {
    BlockId id;
    std::vector<std::byte> data;
    bool damaged = false;
  };

  FakeFlash(io::Loop* loop, FlashOwner* owner) : loop_(loop), owner_(owner) {}

  Task<void> append(std::span<FlashAppend> items, FlashCall call) override {
    std::uint64_t bytes = 0;
    for (const FlashAppend& item : items) bytes += item.facts.data_bytes;
    const Status served = co_await serve(bytes, call, append_latency);
    for (FlashAppend& item : items) {
      item.status = append_error ? Status(std::unexpected(*append_error)) : served;
      if (!item.status) continue;
      Record record{item.facts.id, std::vector<std::byte>(item.facts.data_bytes), false};
      gather(item.data.pieces, record.data);
      item.page = next_page_++;
      records[item.page] = std::move(record);
      last_facts_tenant = std::string(item.facts.tenant);
    }
  }
  Task<void> read(std::span<FlashRead> items, FlashCall call) override {
    ++read_calls;
    std::uint64_t bytes = 0;
    for (const FlashRead& item : items) bytes += item.data_bytes;
    const Status served = co_await serve(bytes, call, read_latency);
    for (FlashRead& item : items) {
      item.status = read_error ? Status(std::unexpected(*read_error)) : served;
      if (!item.status) continue;
      ++read_blocks;
      const auto found = records.find(item.page);
      if (found == records.end() || found->second.damaged || found->second.id != item.id ||
          found->second.data.size() != item.data_bytes) {
        item.status = fail(Errc::kCorrupt, "record");
        continue;
      }
      scatter(found->second.data, item.data.pieces);
    }
  }
  Task<Status> forget(BlockId, FlashPage page, std::uint32_t, bool durable, FlashCall) override {
    records.erase(page);
    forgotten_durably += durable;
    co_return Status{};
  }
  Task<Status> checkpoint(FlashCall) override { co_return Status{}; }
  Task<Result<VerifyResult>> verify(std::size_t, FlashCall) override {
    VerifyResult result;
    result.records = records.size();
    co_return result;
  }
  Task<Status> close(FlashCall) override {
    closed = true;
    co_return Status{};
  }
  FlashStats stats() const override { return {}; }

  Nanos append_latency{0};
  Nanos read_latency{0};
  double ns_per_byte = 0;
  bool stuck = false;  // nothing ends before its deadline
  std::optional<Error> append_error;
  std::optional<Error> read_error;
  std::map<FlashPage, Record> records;
  std::uint64_t read_calls = 0;
  std::uint64_t read_blocks = 0;
  std::uint64_t forgotten_durably = 0;
  std::string last_facts_tenant;
  bool closed = false;
  FlashOwner* owner() { return owner_; }

 private:
  Task<Status> serve(std::uint64_t bytes, FlashCall call, Nanos latency) {
    const auto moving = Nanos(static_cast<std::int64_t>(ns_per_byte * static_cast<double>(bytes)));
    free_at_ = std::max(free_at_, loop_->now()) + moving;
    const Nanos done = stuck ? kForever : free_at_ + latency;
    Signal never(*loop_);
    while (loop_->now() < std::min(done, call.io.deadline)) {
      if (call.cancel != nullptr && call.cancel->cancelled()) {
        co_return fail(Errc::kCancelled, "fake flash");
      }
      co_await never.wait(std::min(done, call.io.deadline), call.cancel);
    }
    if (loop_->now() < done) co_return fail(Errc::kTimedOut, "fake flash");
    co_return Status{};
  }

  io::Loop* loop_;
  FlashOwner* owner_;
  FlashPage next_page_ = 1;
  Nanos free_at_{0};
};

// Bytes in two scattered pieces, and what keeps them.
struct TestBuffer {
  std::vector<std::byte> bytes;
  std::array<iovec, 2> pieces;
  explicit TestBuffer(std::size_t size) : bytes(size) {
    const std::size_t cut = size / 3;
    pieces = {iovec{bytes.data(), cut}, iovec{bytes.data() + cut, size - cut}};
  }
  [[nodiscard]] LentBuffer lend() const { return {.pieces = pieces, .owner = nullptr}; }
};

[[nodiscard]] inline BlockId test_id(std::uint64_t number, std::string_view tenant = "t") {
  return make_block_id({.tenant = std::string(tenant), .layout_fingerprint = "layout"},
                       bytes_of(number));
}

// bytes.size() is a multiple of 8.
inline void fill_block(std::span<std::byte> bytes, std::uint64_t number) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = (number + 1) * 0x9e3779b97f4a7c15ULL + at;
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
}

// Lets the loop and its virtual time go on.
inline Task<void> sleep_a_little(io::Loop* loop) { co_await loop->sleep_for(Nanos(100'000)); }

// A store over a FakeFlash in virtual time.
class StoreRig {
 public:
  explicit StoreRig(StoreOptions options, bool with_flash = true) : loop(engine) {
    auto made = make_state(&loop, std::move(options));
    state = std::move(made).value();
    if (with_flash) {
      auto owned = std::make_unique<FakeFlash>(&loop, state.get());
      flash = owned.get();
      state->flash = std::move(owned);
    }
    store = make_store(state);
    space = store->register_space({.tenant = "t", .layout_fingerprint = "layout"}).value();
  }

  // Puts the chain [first, first + count): each block's parent is the one before it.
  std::vector<Status> put(std::uint64_t first, std::size_t count, std::size_t block_bytes = 8192) {
    return put(first, count, block_bytes, CallOptions{.space = space});
  }
  std::vector<Status> put(std::uint64_t first, std::size_t count, std::size_t block_bytes,
                          CallOptions call) {
    std::deque<TestBuffer> buffers;
    std::vector<PutItem> items(count);
    for (std::size_t i = 0; i < count; ++i) {
      buffers.emplace_back(block_bytes);
      fill_block(buffers.back().bytes, first + i);
      items[i].id = test_id(first + i);
      items[i].parent = i == 0 ? kNoParent : test_id(first + i - 1);
      items[i].data = buffers.back().lend();
      items[i].token_count = 16;
      items[i].chain_depth = static_cast<std::uint32_t>(i);
    }
    loop.run(store->put(items, call));
    std::vector<Status> statuses;
    for (const PutItem& item : items) statuses.push_back(item.status);
    return statuses;
  }

  struct Got {
    GetSummary summary;
    std::vector<MissReason> misses;
    std::vector<Tier> tiers;
    std::size_t wrong_blocks = 0;  // delivered with other bytes than theirs
    Nanos took{0};
  };
  Got get(std::uint64_t first, std::size_t count, std::size_t block_bytes = 8192) {
    return get(first, count, block_bytes, CallOptions{.space = space});
  }
  Got get(std::uint64_t first, std::size_t count, std::size_t block_bytes, CallOptions call) {
    std::deque<TestBuffer> buffers;
    std::vector<GetItem> items(count);
    for (std::size_t i = 0; i < count; ++i) {
      buffers.emplace_back(block_bytes);
      items[i].id = test_id(first + i);
      items[i].buffer = buffers.back().lend();
    }
    Got got;
    got.summary = loop.run(timed_get(store.get(), items, call, &loop, &got.took));
    std::vector<std::byte> expected(block_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      got.misses.push_back(items[i].miss);
      got.tiers.push_back(items[i].tier);
      if (items[i].miss != MissReason::kNone) continue;
      fill_block(expected, first + i);
      got.wrong_blocks += buffers[i].bytes != expected;
    }
    return got;
  }
  LookupResult lookup(std::uint64_t first, std::size_t count) {
    std::vector<BlockId> chain;
    for (std::size_t i = 0; i < count; ++i) chain.push_back(test_id(first + i));
    return store->lookup(chain, space);
  }
  Status flush() { return loop.run(store->flush()); }

  static Task<GetSummary> timed_get(Store* from, std::span<GetItem> items, CallOptions call,
                                    io::Loop* on, Nanos* took) {
    const Nanos start = on->now();
    const GetSummary summary = co_await from->get(items, call);
    *took = on->now() - start;
    co_return summary;
  }

  VirtualEngine engine;
  io::Loop loop;
  SharedState state;
  FakeFlash* flash = nullptr;
  std::unique_ptr<Store> store;
  SpaceId space;
};

}  // namespace forebay::store

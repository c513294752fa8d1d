// What the loop itself costs: messages between cores, timers, and small reads beside raw liburing.
//
//   build/release/forebay_io_bench --benchmark_filter=post
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "core/aligned_memory.h"
#include "core/rng.h"
#include "io/loop.h"

namespace forebay::io {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::uint64_t kFileBytes = 16 * kMiB;  // in the page cache: software is the limit

// A loop of its own on a thread of its own, turned until stop().
class Core {
 public:
  Core() : engine_(make_engine(EngineChoice::kAuto).value()), loop_(*engine_) {
    thread_ = std::thread([this] {
      while (!stopped_.load(std::memory_order_relaxed)) loop_.turn();
    });
  }
  ~Core() {
    loop_.post([this] { stopped_ = true; });
    thread_.join();
  }
  Loop& loop() { return loop_; }

 private:
  std::unique_ptr<Engine> engine_;
  Loop loop_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

Task<void> there_and_back(Loop* here, Loop* there) {
  Event back(*here);
  there->post([&back, here] { here->post([&back] { back.set(); }); });
  co_await back.wait();
}

// There and back between two cores that have nothing else to do: two wake-ups.
void post_round_trip(benchmark::State& state) {
  auto engine = make_engine(EngineChoice::kAuto).value();
  Loop here(*engine);
  Core there;
  for (auto _ : state) here.run(there_and_back(&here, &there.loop()));
}
BENCHMARK(post_round_trip)->UseRealTime();

// Messages a second into one core that is kept busy with them.
void post_burst(benchmark::State& state) {
  Core there;
  const std::int64_t burst = state.range(0);
  std::atomic<std::int64_t> seen{0};
  std::int64_t sent = 0;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < burst; ++i) there.loop().post([&seen] { ++seen; });
    sent += burst;
    while (seen.load(std::memory_order_acquire) < sent) std::this_thread::yield();
  }
  state.SetItemsProcessed(sent);
}
BENCHMARK(post_burst)->Arg(64)->Arg(1024)->UseRealTime();

// Timers that do not fire while a benchmark runs.
struct WaitingTimers {
  WaitingTimers(Loop& loop, std::size_t count)
      : far(loop.now() + std::chrono::hours(1)), timers(std::make_unique<Loop::Timer[]>(count)) {
    for (std::size_t i = 0; i < count; ++i) loop.arm(timers[i], far + Nanos(i), [] {});
  }
  Nanos far;
  std::unique_ptr<Loop::Timer[]> timers;
};

Task<void> sleep_until_now(Loop* loop) { co_await loop->sleep_until(loop->now()); }

// One timer armed and fired at once while `range` others wait.
void timer_arm_and_fire(benchmark::State& state) {
  auto engine = make_engine(EngineChoice::kAuto).value();
  Loop loop(*engine);
  const WaitingTimers waiting(loop, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) loop.run(sleep_until_now(&loop));
}
BENCHMARK(timer_arm_and_fire)->Arg(0)->Arg(1000)->Arg(100'000);

// What a deadline costs a call that keeps it.
void timer_arm_and_cancel(benchmark::State& state) {
  auto engine = make_engine(EngineChoice::kAuto).value();
  Loop loop(*engine);
  const WaitingTimers waiting(loop, static_cast<std::size_t>(state.range(0)));
  Loop::Timer timer;
  for (auto _ : state) {
    loop.arm(timer, waiting.far, [] {});
    timer.cancel();
  }
}
BENCHMARK(timer_arm_and_cancel)->Arg(0)->Arg(1000)->Arg(100'000);

// A file in the page cache, gone at the end.
class CachedFile {
 public:
  CachedFile() {
    descriptor_ = ::mkstemp(path_.data());
    const auto block = allocate_aligned(kFileBytes);
    std::fill_n(block.get(), kFileBytes, std::byte{0x5a});
    if (::pwrite(descriptor_, block.get(), kFileBytes, 0) != static_cast<ssize_t>(kFileBytes)) {
      std::abort();
    }
  }
  ~CachedFile() {
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::string path_ = "forebay-io-bench-XXXXXX";
  int descriptor_ = -1;
};

std::uint64_t random_offset(Rng& rng) { return rng.below(kFileBytes / kReadBytes) * kReadBytes; }

// `range` reads of 4 KiB at once, through the loop's engine.
void read_4k_engine(benchmark::State& state) {
  const CachedFile file;
  auto engine = make_engine(EngineChoice::kAuto).value();
  const FileId id = engine->open(file.path(), OpenOptions{.direct = false}).value();
  const auto depth = static_cast<std::size_t>(state.range(0));
  const auto memory = allocate_aligned(depth * kReadBytes);
  std::vector<Op> ops(depth);
  std::vector<iovec> pieces(depth);
  Rng rng(1);
  std::size_t pending = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    pieces[i] = {memory.get() + i * kReadBytes, kReadBytes};
    ops[i].kind = OpKind::kRead;
    ops[i].file = id;
    ops[i].buffers = std::span(&pieces[i], 1);
    ops[i].context = &pending;
    ops[i].on_done = [](Op& op) { --*static_cast<std::size_t*>(op.context); };
  }
  for (auto _ : state) {
    for (Op& op : ops) {
      op.offset_bytes = random_offset(rng);
      ++pending;
      if (!engine->submit(op)) state.SkipWithError("refused");
    }
    while (pending > 0) engine->poll(kForever);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetLabel(std::string(engine->name()));
  engine->close(id);
}
BENCHMARK(read_4k_engine)->Arg(1)->Arg(32)->Arg(128);

// The same by liburing alone: the reference.
void read_4k_liburing(benchmark::State& state) {
  const CachedFile file;
  const auto depth = static_cast<unsigned>(state.range(0));
  io_uring ring{};
  if (io_uring_queue_init(depth, &ring, 0) != 0) {
    state.SkipWithError("io_uring is refused here");
    return;
  }
  const auto memory = allocate_aligned(depth * kReadBytes);
  Rng rng(1);
  for (auto _ : state) {
    for (unsigned i = 0; i < depth; ++i) {
      io_uring_prep_read(io_uring_get_sqe(&ring), file.descriptor(), memory.get() + i * kReadBytes,
                         kReadBytes, random_offset(rng));
    }
    io_uring_submit_and_wait(&ring, depth);
    std::array<io_uring_cqe*, 128> done;
    const unsigned count = io_uring_peek_batch_cqe(&ring, done.data(), depth);
    for (unsigned i = 0; i < count; ++i) {
      if (done[i]->res != static_cast<int>(kReadBytes)) state.SkipWithError("short");
    }
    io_uring_cq_advance(&ring, count);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  io_uring_queue_exit(&ring);
}
BENCHMARK(read_4k_liburing)->Arg(1)->Arg(32)->Arg(128);

}  // namespace
}  // namespace forebay::io

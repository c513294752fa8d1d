// One promise for every engine: uring, posix, and (when it joins the list) the simulated one.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/bytes.h"
#include "io/loop.h"
#include "io/posix.h"
#include "io/sim.h"
#include "io/uring.h"

namespace forebay::io {
namespace {

constexpr std::size_t kPage = 4096;

struct EngineKind {
  const char* name;
  std::function<Result<std::unique_ptr<Engine>>(std::size_t ops_max)> make;
  bool real_threads;  // wake() and post() may come from other threads
};

std::string refusal;  // why io_uring is not there

const std::vector<EngineKind>& kinds() {
  static const std::vector<EngineKind> all{
      {"uring", [](std::size_t n) { return make_uring_engine(n, &refusal); }, true},
      {"posix", [](std::size_t n) { return make_posix_engine({.ops_max = n, .thread_count = 4}); },
       true},
      {"sim",
       [](std::size_t n) -> Result<std::unique_ptr<Engine>> {
         return std::unique_ptr<Engine>(
             std::make_unique<SimEngine>(SimOptions{.seed = 1, .ops_max = n}));
       },
       false}};
  return all;
}

struct FreeDeleter {
  void operator()(std::byte* p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, FreeDeleter>;
Memory pages(std::size_t count, int value = 0) {
  auto* raw = static_cast<std::byte*>(std::aligned_alloc(kPage, count * kPage));
  std::memset(raw, value, count * kPage);
  return Memory(raw);
}

// `text` from `at` on, three bytes a piece.
std::vector<iovec> pieces_from(std::string& text, std::size_t at) {
  std::vector<iovec> pieces;
  for (; at < text.size(); at += 3) {
    pieces.push_back({text.data() + at, std::min<std::size_t>(3, text.size() - at)});
  }
  return pieces;
}

class Conformance : public testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override {
    auto made = GetParam().make(64);
    if (!made) GTEST_SKIP() << GetParam().name << ": " << refusal;
    engine_ = std::move(*made);
    loop_ = std::make_unique<Loop>(*engine_);
    folder_ = std::filesystem::temp_directory_path() / "forebay-io-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override {
    loop_.reset();
    engine_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  FileId open_new(const std::string& name, std::uint64_t size_bytes) {
    const auto file = engine_->open(path(name), {.write = true, .create = true});
    EXPECT_TRUE(file.has_value());
    EXPECT_TRUE(engine_->allocate(*file, size_bytes).has_value());
    return *file;
  }
  // Submits and waits; the outcome.
  Result<std::size_t> perform(Op& op) {
    bool done = false;
    op.context = &done;
    op.on_done = [](Op& o) { *static_cast<bool*>(o.context) = true; };
    const Status taken = engine_->submit(op);
    if (!taken) return std::unexpected(taken.error());
    while (!done) loop_->turn();
    return op.done_bytes;
  }
  Result<std::size_t> transfer(OpKind kind, FileId file, std::uint64_t offset,
                               std::span<const iovec> buffers) {
    Op op;
    op.kind = kind;
    op.file = file;
    op.offset_bytes = offset;
    op.buffers = buffers;
    return perform(op);
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Loop> loop_;
  std::string folder_;
};

TEST_P(Conformance, ReadsBackWhatWasWrittenScattered) {
  const FileId file = open_new("a", 64 * kPage);
  const Memory one = pages(1, 1);
  const Memory two = pages(2, 2);
  const std::array<iovec, 2> out{{{one.get(), kPage}, {two.get(), 2 * kPage}}};
  EXPECT_EQ(transfer(OpKind::kWrite, file, 5 * kPage, out).value(), 3 * kPage);
  Op flush;
  flush.kind = OpKind::kFlush;
  flush.file = file;
  EXPECT_TRUE(perform(flush).has_value());

  const Memory back = pages(3);
  const std::array<iovec, 3> in{
      {{back.get() + 2 * kPage, kPage}, {back.get() + kPage, kPage}, {back.get(), kPage}}};
  EXPECT_EQ(transfer(OpKind::kRead, file, 5 * kPage, in).value(), 3 * kPage);
  EXPECT_EQ(back.get()[2 * kPage], std::byte{1});
  EXPECT_EQ(back.get()[kPage], std::byte{2});
  EXPECT_EQ(back.get()[kPage - 1], std::byte{2});
  engine_->close(file);
}

TEST_P(Conformance, AReadBeyondTheEndIsShort) {
  const FileId file = open_new("a", 2 * kPage);
  const Memory memory = pages(4, 7);
  const std::array<iovec, 1> in{{{memory.get(), 4 * kPage}}};
  EXPECT_EQ(transfer(OpKind::kRead, file, kPage, in).value(), kPage);
  EXPECT_EQ(transfer(OpKind::kRead, file, 2 * kPage, in).value(), 0U);
  engine_->close(file);
}

TEST_P(Conformance, RefusesUnalignedDirectTransfersAndClosedFiles) {
  const FileId file = open_new("a", 16 * kPage);
  const Memory memory = pages(2);
  if (engine_->facts(file).direct) {
    const std::array<iovec, 1> odd{{{memory.get() + 1, kPage}}};
    EXPECT_EQ(transfer(OpKind::kRead, file, 0, odd).error().code, Errc::kInvalid);
    const std::array<iovec, 1> even{{{memory.get(), kPage}}};
    EXPECT_EQ(transfer(OpKind::kRead, file, 100, even).error().code, Errc::kInvalid);
  }
  const std::array<iovec, 1> good{{{memory.get(), kPage}}};
  EXPECT_EQ(transfer(OpKind::kRead, 4711, 0, good).error().code, Errc::kInvalid);
  EXPECT_EQ(transfer(OpKind::kRead, file, 0, {}).error().code, Errc::kInvalid);
  engine_->close(file);
}

TEST_P(Conformance, AFullQueueIsBusyAndTakesAgainAfterACompletion) {
  std::vector<Op> ops(engine_->ops_max() + 1);
  std::size_t done = 0;
  for (Op& op : ops) {
    op.context = &done;
    op.on_done = [](Op& o) { ++*static_cast<std::size_t*>(o.context); };
  }
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) ASSERT_TRUE(engine_->submit(ops[i]));
  const Status refused = engine_->submit(ops.back());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kBusy);
  while (done < engine_->ops_max()) loop_->turn();
  ASSERT_TRUE(engine_->submit(ops.back()));
  while (done < ops.size()) loop_->turn();
  EXPECT_EQ(done, ops.size());
}

TEST_P(Conformance, CancelStillEndsEveryOpExactlyOnce) {
  const FileId file = open_new("a", 1 * kMiB);
  const Memory memory = pages(16);
  std::array<iovec, 16> buffers{};
  std::array<Op, 16> ops;
  std::array<int, 16> ended{};
  for (std::size_t i = 0; i < ops.size(); ++i) {
    buffers[i] = {memory.get() + i * kPage, kPage};
    ops[i].kind = OpKind::kRead;
    ops[i].file = file;
    ops[i].offset_bytes = i * kPage;
    ops[i].buffers = std::span(&buffers[i], 1);
    ops[i].context = &ended[i];
    ops[i].on_done = [](Op& o) { ++*static_cast<int*>(o.context); };
    ASSERT_TRUE(engine_->submit(ops[i]));
  }
  for (Op& op : ops) engine_->cancel(op);
  const auto all_ended = [&] {
    return std::ranges::all_of(ended, [](int count) { return count == 1; });
  };
  for (int turn = 0; turn < 1000 && !all_ended(); ++turn) loop_->turn();
  EXPECT_TRUE(all_ended());
  for (const Op& op : ops) {
    EXPECT_TRUE(op.done_bytes.has_value() || op.done_bytes.error().code == Errc::kCancelled);
  }
  engine_->close(file);
}

TEST_P(Conformance, ASecondExclusiveOpenIsRefused) {
  const auto first =
      engine_->open(path("a"), {.write = true, .create = true, .lock = FileLock::kExclusive});
  ASSERT_TRUE(first);
  const auto second = engine_->open(path("a"), {.write = true, .lock = FileLock::kExclusive});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kExists);
  engine_->close(*first);
  const auto third = engine_->open(path("a"), {.write = true, .lock = FileLock::kExclusive});
  ASSERT_TRUE(third);
  engine_->close(*third);
}

TEST_P(Conformance, ReadersShareAFileThatNoWriterThenGets) {
  OpenOptions writes{.write = true, .create = true, .lock = FileLock::kExclusive};
  engine_->close(engine_->open(path("a"), writes).value());
  const auto first = engine_->open(path("a"), {.lock = FileLock::kShared});
  const auto second = engine_->open(path("a"), {.lock = FileLock::kShared});
  ASSERT_TRUE(first && second);
  engine_->close(*first);
  const auto refused = engine_->open(path("a"), writes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kExists);
  engine_->close(*second);
  const auto writer = engine_->open(path("a"), writes);
  ASSERT_TRUE(writer);
  EXPECT_FALSE(engine_->open(path("a"), {.lock = FileLock::kShared}));
  engine_->close(*writer);
}

TEST_P(Conformance, AnAbsentFileIsNotFound) {
  const auto file = engine_->open(path("absent"), {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Errc::kNotFound);
}

TEST_P(Conformance, TimersFireInOrderAndTiesInTheOrderOfArming) {
  std::vector<int> fired;
  std::array<Loop::Timer, 4> timers;
  const Nanos base = loop_->now();
  loop_->arm(timers[0], base + Nanos(3000), [&] { fired.push_back(3); });
  loop_->arm(timers[1], base + Nanos(1000), [&] { fired.push_back(1); });
  loop_->arm(timers[2], base + Nanos(1000), [&] { fired.push_back(2); });
  loop_->arm(timers[3], base + Nanos(2000), [&] { fired.push_back(9); });
  timers[3].cancel();
  while (fired.size() < 3) loop_->turn();
  EXPECT_EQ(fired, (std::vector<int>{1, 2, 3}));
  EXPECT_GE(loop_->now() - base, Nanos(3000));
}

TEST_P(Conformance, PreparesRunOnceATurnBehindWhatIsDue) {
  std::vector<int> ran;
  std::array<Loop::Prepare, 3> prepares;
  Loop::Timer timer;
  loop_->arm(prepares[0], [&] {
    ran.push_back(2);
    loop_->arm(prepares[0], [&] { ran.push_back(4); });  // for the next turn
  });
  loop_->arm(prepares[1], [&] { ran.push_back(9); });
  loop_->arm(prepares[2], [&] { ran.push_back(3); });
  loop_->arm(timer, loop_->now(), [&] { ran.push_back(1); });
  prepares[1].cancel();
  loop_->turn();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(prepares[0].armed());
  EXPECT_FALSE(prepares[2].armed());
  loop_->turn();
  loop_->turn();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4}));
}

TEST_P(Conformance, PostsFromAnotherThreadRunHereInOrder) {
  if (!GetParam().real_threads) GTEST_SKIP() << "virtual time has one thread";
  std::vector<int> seen;
  const auto here = std::this_thread::get_id();
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      loop_->post([&seen, i, here] {
        EXPECT_EQ(std::this_thread::get_id(), here);
        seen.push_back(i);
      });
    }
  });
  while (seen.size() < 100) loop_->turn();
  other.join();
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

TEST_P(Conformance, SocketsCarryBytesAndTellWhenThePeerLeft) {
  const sockaddr_in any = loopback(0);
  const auto listener = engine_->listen(&any, sizeof any);
  ASSERT_TRUE(listener);
  const sockaddr_in target = loopback(engine_->local_port(*listener).value());
  const auto client = engine_->socket(AF_INET);
  ASSERT_TRUE(client);

  Op accept;
  accept.kind = OpKind::kAccept;
  accept.file = *listener;
  bool accepted = false;
  accept.context = &accepted;
  accept.on_done = [](Op& o) { *static_cast<bool*>(o.context) = true; };
  ASSERT_TRUE(engine_->submit(accept));
  Op connect;
  connect.kind = OpKind::kConnect;
  connect.file = *client;
  connect.address = &target;
  connect.address_bytes = sizeof target;
  ASSERT_TRUE(perform(connect).has_value());
  while (!accepted) loop_->turn();
  const auto server = static_cast<FileId>(accept.done_bytes.value());

  // Either side may move less than asked: a stream has no messages.
  std::string sent = "a message of some length, in pieces of three bytes";
  std::size_t most = 0;
  for (std::size_t at = 0; at < sent.size();) {
    const std::size_t size = transfer(OpKind::kSend, *client, 0, pieces_from(sent, at)).value();
    most = std::max(most, size);
    at += size;
  }
  EXPECT_GT(most, 3U);  // more than a piece at once
  std::string received(sent.size(), '\0');
  most = 0;
  for (std::size_t at = 0; at < received.size();) {
    const auto places = pieces_from(received, at);
    const std::size_t size = transfer(OpKind::kReceive, server, 0, places).value();
    ASSERT_GT(size, 0U);
    most = std::max(most, size);
    at += size;
  }
  EXPECT_GT(most, 3U);
  EXPECT_EQ(received, sent);
  const std::array<iovec, 1> in{{{received.data(), received.size()}}};
  engine_->close(*client);
  EXPECT_EQ(transfer(OpKind::kReceive, server, 0, in).value(), 0U);
  engine_->close(server);
  engine_->close(*listener);
}

Task<void> count_down(Loop* loop, int* left) {
  while (*left > 0) {
    co_await loop->sleep_for(Nanos(1000));
    --*left;
  }
}

Task<void> wait_for(Event* event, bool* woken) {
  co_await event->wait();
  *woken = true;
}

TEST_P(Conformance, SpawnedTasksRunBesideTheCaller) {
  int left = 5;
  bool woken = false;
  Event event(*loop_);
  loop_->spawn(count_down(loop_.get(), &left));
  loop_->spawn(wait_for(&event, &woken));
  while (left > 0) loop_->turn();
  EXPECT_FALSE(woken);
  event.set();
  while (!woken) loop_->turn();
  loop_->turn();
  EXPECT_EQ(loop_->spawned_count(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, Conformance, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace forebay::io

// How a host becomes the only writer, answer by answer.
#include "nvme/initiator/write_guard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/bytes.h"

namespace forebay::nvme::initiator {
namespace {

using namespace std::chrono_literals;
using HostBytes = std::array<std::byte, 16>;

HostBytes host(int value) {
  HostBytes id;
  id.fill(static_cast<std::byte>(value));
  return id;
}
constexpr std::uint64_t kOwnKey = 0x0303030303030303;
constexpr std::uint64_t kOtherKey = 0x77;

struct Entry {
  std::uint16_t controller;
  std::uint8_t holds;
  std::uint64_t key;
  int host;
};

// At the offsets of the extended reservation status (Base Specification 2.0, 7.5).
std::vector<std::byte> report(std::uint32_t generation, std::uint8_t type,
                              const std::vector<Entry>& entries) {
  std::vector<std::byte> page(4096);
  const auto put = [&page](std::size_t offset, const auto& value) {
    if (offset + sizeof value <= page.size()) std::memcpy(&page[offset], &value, sizeof value);
  };
  put(0, generation);
  put(4, type);
  put(5, static_cast<std::uint16_t>(entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t at = 64 + 64 * i;
    put(at, entries[i].controller);
    put(at + 2, entries[i].holds);
    put(at + 8, entries[i].key);
    put(at + 16, host(entries[i].host));
  }
  return page;
}

class Guard {
 public:
  explicit Guard(GuardWishes wishes = {}) : guard_(filled(wishes)) {}
  // Asks, and is answered with success, after looking at what was asked.
  void pass(std::uint8_t opcode, std::uint32_t dword10, std::uint64_t key, std::uint64_t other) {
    ask(opcode, dword10, key, other);
    answer({}, std::uint64_t{0});
  }
  void conflict(std::uint8_t opcode, std::uint32_t dword10) {
    ask(opcode, dword10, std::nullopt, std::nullopt);
    answer({StatusCode::kReservationConflict, true}, fail(Errc::kExists, "test: conflict"));
  }
  void tell(const std::vector<std::byte>& page) {
    ask(0x0E, 1023, std::nullopt, std::nullopt);
    std::memcpy(guard_.command().pieces[0].iov_base, page.data(), page.size());
    answer({}, std::uint64_t{0});
  }
  // Registered, and somebody else holds it.
  void meet_holder() {
    pass(0x0D, 0, 0, kOwnKey);
    conflict(0x11, 0x100);
  }
  [[nodiscard]] GuardState state() const { return guard_.state(); }
  WriteGuard& operator*() { return guard_; }
  Nanos now = 100s;

 private:
  static GuardWishes filled(GuardWishes wishes) {
    wishes.controller_id = 5;
    wishes.host_id = host(3);
    return wishes;
  }
  void ask(std::uint8_t opcode, std::uint32_t dword10, std::optional<std::uint64_t> key,
           std::optional<std::uint64_t> other) {
    guard_.prepare();
    const QueueCommand& command = guard_.command();
    EXPECT_EQ(command.sqe.opcode, opcode);
    EXPECT_EQ(command.sqe.dword(10), dword10);
    EXPECT_EQ(command.sqe.namespace_id, 1U);
    std::array<std::uint64_t, 2> keys{};
    std::memcpy(keys.data(), command.pieces[0].iov_base, sizeof keys);
    if (key) EXPECT_EQ(keys[0], *key);
    if (other) EXPECT_EQ(keys[1], *other);
  }
  void answer(CommandStatus status, const Result<std::uint64_t>& result) {
    guard_.command().status = status;
    guard_.command().result = result;
    guard_.take(now);
  }
  WriteGuard guard_;
};

const Entry kOwn{5, 0, kOwnKey, 3};

TEST(WriteGuard, RegistersAndAcquiresWriteExclusiveAndReleasesByUnregistering) {
  Guard guard;
  guard.pass(0x0D, 0, 0, kOwnKey);
  guard.pass(0x11, 0x100, kOwnKey, 0);
  EXPECT_EQ(guard.state(), GuardState::kHeld);
  (*guard).release();
  guard.pass(0x0D, 1, kOwnKey, 0);
  EXPECT_EQ(guard.state(), GuardState::kReleased);
}

TEST(WriteGuard, PreemptsAHolderThatHasNoController) {
  Guard guard;
  guard.meet_holder();
  guard.tell(report(2, 1, {{0xFFFF, 1, kOtherKey, 9}, kOwn}));
  EXPECT_FALSE((*guard).waits());
  guard.pass(0x11, 0x101, kOwnKey, kOtherKey);
  EXPECT_EQ(guard.state(), GuardState::kHeld);
}

TEST(WriteGuard, WaitsASecondForAHolderThatIsThereAndLeavesNothingBehind) {
  Guard guard;
  guard.meet_holder();
  const auto page = report(2, 1, {{8, 1, kOtherKey, 9}, kOwn});
  guard.tell(page);
  EXPECT_TRUE((*guard).waits());
  guard.now += 999ms;
  guard.conflict(0x11, 0x100);
  guard.tell(page);
  EXPECT_TRUE((*guard).waits());
  guard.now += 1ms;
  guard.conflict(0x11, 0x100);
  guard.tell(page);
  guard.pass(0x0D, 1, kOwnKey, 0);
  EXPECT_EQ(guard.state(), GuardState::kRefused);
  EXPECT_EQ((*guard).refusal().code, Errc::kExists);
  EXPECT_EQ((*guard).holder(), host(9));
}

TEST(WriteGuard, GetsItWhenTheHolderLeavesInTime) {
  Guard guard;
  guard.meet_holder();
  guard.tell(report(2, 1, {{8, 1, kOtherKey, 9}, kOwn}));
  guard.pass(0x11, 0x100, kOwnKey, 0);
  EXPECT_EQ(guard.state(), GuardState::kHeld);
}

TEST(WriteGuard, OfTwoThatPreemptTheSlowerMeetsTheFaster) {
  Guard guard;
  guard.meet_holder();
  guard.tell(report(2, 1, {{0xFFFF, 1, kOtherKey, 9}, kOwn}));
  guard.conflict(0x11, 0x101);
  guard.tell(report(3, 1, {{6, 1, 0x88, 10}, kOwn}));
  EXPECT_TRUE((*guard).waits());
  EXPECT_EQ(guard.state(), GuardState::kAcquire);
}

// Linux's target says FFFFh of every host: there a crash looks like one that is there.
TEST(WriteGuard, WhereTheTargetDoesNotTellItTakesOverOnlyWhenTold) {
  const auto page = report(2, 1, {{0xFFFF, 1, kOtherKey, 9}, {0xFFFF, 0, kOwnKey, 3}});
  Guard guard;
  guard.meet_holder();
  guard.tell(page);
  guard.now += 2s;
  guard.conflict(0x11, 0x100);
  guard.tell(page);
  EXPECT_EQ(guard.state(), GuardState::kWithdraw);
  EXPECT_EQ((*guard).refusal().code, Errc::kExists);
  Guard told({.takeover = true});
  told.meet_holder();
  told.tell(page);
  EXPECT_EQ(told.state(), GuardState::kPreempt);
}

TEST(WriteGuard, AHolderBeyondThePageIsTakenToBeThere) {
  std::vector<Entry> many(63, Entry{0xFFFF, 0, 1, 20});
  many[0] = kOwn;
  many.push_back({0xFFFF, 1, kOtherKey, 9});
  Guard guard({.takeover = true});
  guard.meet_holder();
  guard.tell(report(70, 1, many));
  EXPECT_TRUE((*guard).waits());
}

TEST(WriteGuard, AfterAnOutageItGoesOnOnlyIfNobodyElseCanHaveWritten) {
  Guard kept({.again = true});
  kept.tell(report(4, 1, {{5, 1, kOwnKey, 3}}));
  kept.pass(0x11, 0x100, kOwnKey, 0);
  EXPECT_EQ(kept.state(), GuardState::kHeld);
  Guard began_anew({.again = true});
  began_anew.tell(report(0, 0, {}));
  began_anew.pass(0x0D, 0, 0, kOwnKey);
  began_anew.pass(0x11, 0x100, kOwnKey, 0);
  EXPECT_EQ(began_anew.state(), GuardState::kHeld);
  // Somebody came and went, or is there: it may have written.
  Guard left({.again = true});
  left.tell(report(2, 0, {}));
  EXPECT_EQ(left.state(), GuardState::kRefused);
  Guard preempted({.again = true});
  preempted.tell(report(5, 1, {{0xFFFF, 1, kOtherKey, 9}}));
  EXPECT_EQ(preempted.state(), GuardState::kRefused);
  Guard raced({.again = true});
  raced.tell(report(0, 0, {}));
  raced.pass(0x0D, 0, 0, kOwnKey);
  raced.conflict(0x11, 0x100);
  raced.pass(0x0D, 1, kOwnKey, 0);
  EXPECT_EQ(raced.state(), GuardState::kRefused);
}

}  // namespace
}  // namespace forebay::nvme::initiator

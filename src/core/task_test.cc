#include "core/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/cancel.h"
#include "core/error.h"
#include "core/intrusive_queue.h"

namespace forebay {
namespace {

// A hand-driven suspension point.
struct Gate {
  std::coroutine_handle<> waiter;
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> self) { waiter = self; }
  void await_resume() const {}
};

Task<int> add_after(Gate* gate, int a, int b) {
  co_await *gate;
  co_return a + b;
}

Task<Result<int>> twice(Gate* gate) {
  const int once = co_await add_after(gate, 1, 2);
  if (once != 3) co_return fail(Errc::kInvalid, "add");
  co_return once * 2;
}

TEST(Task, RunsNothingBeforeItIsStarted) {
  Gate gate;
  Task<int> task = add_after(&gate, 1, 2);
  EXPECT_FALSE(gate.waiter);
  task.start();
  EXPECT_TRUE(gate.waiter);
  EXPECT_FALSE(task.done());
  gate.waiter.resume();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.take(), 3);
}

TEST(Task, ParentResumesWhenTheChildEnds) {
  Gate gate;
  Task<Result<int>> task = twice(&gate);
  task.start();
  EXPECT_FALSE(task.done());
  gate.waiter.resume();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.take().value(), 6);
}

Task<int> ready(int value) { co_return value; }
Task<std::int64_t> sum_many(int count) {
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await ready(1);
  co_return sum;
}

TEST(Task, AMillionCompletedAwaitsDoNotGrowTheStack) {
  Task<std::int64_t> task = sum_many(1'000'000);
  task.start();
  EXPECT_EQ(task.take(), 1'000'000);
}

Task<void> hold(Gate* gate, std::shared_ptr<int> held) {
  co_await *gate;
  ++*held;
}

TEST(Task, DestroyingASuspendedTaskFreesItsFrame) {
  Gate gate;
  auto held = std::make_shared<int>(0);
  {
    Task<void> task = hold(&gate, held);
    task.start();
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

TEST(Cancel, RunsEachLivingListenerOnce) {
  CancelSource source;
  std::vector<int> fired;
  CancelSource::Listener first(&source, [&] { fired.push_back(1); });
  {
    CancelSource::Listener gone(&source, [&] { fired.push_back(2); });
  }
  CancelSource::Listener third(&source, [&] { fired.push_back(3); });
  source.cancel();
  source.cancel();
  EXPECT_EQ(fired, (std::vector<int>{1, 3}));
  EXPECT_TRUE(source.cancelled());
}

TEST(Cancel, AListenerMayDestroyAnotherOrItself) {
  CancelSource source;
  auto second = std::make_unique<CancelSource::Listener>();
  std::unique_ptr<CancelSource::Listener> self;
  int fired = 0;
  CancelSource::Listener first(&source, [&] { second.reset(); });
  second = std::make_unique<CancelSource::Listener>(&source, [&] { fired += 10; });
  self = std::make_unique<CancelSource::Listener>(&source, [&] {
    ++fired;
    self.reset();
  });
  source.cancel();
  EXPECT_EQ(fired, 1);
}

struct Node {
  int value = 0;
  Node* next = nullptr;
};

TEST(IntrusiveQueue, IsFirstInFirstOutAndRemovesFromTheMiddle) {
  Node a{1};
  Node b{2};
  Node c{3};
  IntrusiveQueue<Node, &Node::next> queue;
  queue.push_back(a);
  queue.push_back(b);
  queue.push_back(c);
  EXPECT_TRUE(queue.remove(b));
  EXPECT_FALSE(queue.remove(b));
  queue.push_front(b);
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.pop_front().value, 2);
  EXPECT_EQ(queue.pop_front().value, 1);
  EXPECT_EQ(queue.pop_front().value, 3);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace forebay

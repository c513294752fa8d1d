// One event loop per core: an Engine, timers, spawned tasks, and messages from other cores.
//
//   Loop loop(*engine);
//   auto result = loop.run(serve(&loop));      // drives the loop until the task is done
//
// Threads: everything belongs to the core that runs the loop, except post() and stop().
// With the simulated engine the loop runs in virtual time and is deterministic.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/cancel.h"
#include "core/clock.h"
#include "core/intrusive_queue.h"
#include "core/task.h"
#include "io/engine.h"

namespace forebay::io {

class Loop {
 public:
  explicit Loop(Engine& engine);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] Nanos now() const { return engine_.clock().now(); }

  // Runs `task` beside the caller; the loop owns it until it ends.
  void spawn(Task<void> task);
  [[nodiscard]] std::size_t spawned_count() const;

  // Drives the loop until `task` ends; nested calls are a programmer error.
  template <class T>
  T run(Task<T> task) {
    task.start();
    while (!task.done()) {
      run_due();
      // What ran may have ended the task: then there is nothing to wait for.
      if (!task.done()) poll();
    }
    return task.take();
  }
  // One round: timers that are due, messages, completions. Waits when there is nothing to do.
  void turn() {
    run_due();
    poll();
  }

  // From any thread: runs `work` on this core soon, in the order of the posts.
  void post(std::function<void()> work);

  // A timer calls back once, not before `at`. cancel() before that makes it silent.
  class Timer {
   public:
    Timer() = default;
    ~Timer() { cancel(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    [[nodiscard]] bool armed() const { return loop_ != nullptr; }
    void cancel();

   private:
    friend class Loop;
    Loop* loop_ = nullptr;
    std::size_t heap_index_ = 0;
    Nanos at_{};
    std::uint64_t sequence_ = 0;  // ties fire in the order they were armed
    std::function<void()> on_fire_;
  };
  void arm(Timer& timer, Nanos at, std::function<void()> on_fire);

  // Calls back once before the loop next looks at its engine, after all timers and messages that
  // are due: what one turn brings can go out as one. cancel() before that makes it silent.
  class Prepare {
   public:
    Prepare() = default;
    ~Prepare() { cancel(); }
    Prepare(const Prepare&) = delete;
    Prepare& operator=(const Prepare&) = delete;
    [[nodiscard]] bool armed() const { return loop_ != nullptr; }
    void cancel();

   private:
    friend class Loop;
    Loop* loop_ = nullptr;
    Prepare* next_ = nullptr;
    std::function<void()> on_prepare_;
  };
  void arm(Prepare& prepare, std::function<void()> on_prepare);

  // co_await loop.sleep_until(t);  co_await loop.yield();
  struct Sleep {
    Loop& loop;
    Nanos at;
    Timer timer;
    Sleep(Loop& l, Nanos t) : loop(l), at(t) {}
    [[nodiscard]] bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> self) {
      loop.arm(timer, at, [self] { self.resume(); });
    }
    void await_resume() const {}
  };
  [[nodiscard]] Sleep sleep_until(Nanos at) { return {*this, at}; }
  [[nodiscard]] Sleep sleep_for(Nanos span) { return {*this, now() + span}; }
  [[nodiscard]] Sleep yield() { return {*this, now()}; }

 private:
  void run_due();  // timers and messages
  void poll();     // prepares, completions; waits until the next timer at most
  void heap_remove(std::size_t index);
  void heap_sift(std::size_t index);
  void fire_due_timers();
  void run_posted();
  void run_prepares();

  Engine& engine_;
  std::vector<Timer*> heap_;  // min-heap by (at_, sequence_)
  std::uint64_t next_sequence_ = 0;
  IntrusiveQueue<Prepare, &Prepare::next_> prepares_;
  struct Spawned;
  std::vector<std::unique_ptr<Spawned>> spawned_;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
};

// A condition that tasks wait for: set() wakes all waiters, in order, through the loop's next turn.
class Event {
 public:
  explicit Event(Loop& loop) : loop_(loop) {}
  void set();
  void reset() { set_ = false; }
  [[nodiscard]] bool is_set() const { return set_; }
  struct Wait {
    Event& event;
    [[nodiscard]] bool await_ready() const { return event.set_; }
    void await_suspend(std::coroutine_handle<> self) { event.waiters_.push_back(self); }
    void await_resume() const {}
  };
  [[nodiscard]] Wait wait() { return {*this}; }

 private:
  Loop& loop_;
  bool set_ = false;
  std::vector<std::coroutine_handle<>> waiters_;
};

}  // namespace forebay::io

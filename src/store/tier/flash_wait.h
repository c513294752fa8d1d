// How a coroutine of the flash tier waits: for a callback, a deadline or a cancel, whichever is
// first.
//
// Ownership: a Waiter lives in the waiting coroutine's frame; whoever will wake it holds a pointer
// and is told when the frame goes (~Waiter of a WaitList's, detach() of a job). Threads: one core.
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>

#include "core/cancel.h"
#include "core/clock.h"
#include "io/loop.h"

namespace forebay::store {

enum class Wake : std::uint8_t { kSignalled, kTimedOut, kCancelled };

// One-shot. wake() resumes in place; the first reason wins.
class Waiter {
 public:
  Waiter(io::Loop& loop, Nanos deadline, CancelSource* cancel)
      : loop_(loop), deadline_(deadline), cancel_(cancel) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() { unlink(); }

  void wake(Wake why = Wake::kSignalled) {
    if (why_) return;
    why_ = why;
    unlink();
    timer_.cancel();
    if (handle_) handle_.resume();
  }

  [[nodiscard]] bool await_ready() {
    if (!why_ && cancel_ != nullptr && cancel_->cancelled()) why_ = Wake::kCancelled;
    if (!why_ && deadline_ <= loop_.now()) why_ = Wake::kTimedOut;
    return why_.has_value();
  }
  void await_suspend(std::coroutine_handle<> self) {
    handle_ = self;
    if (deadline_ < kForever) loop_.arm(timer_, deadline_, [this] { wake(Wake::kTimedOut); });
    if (cancel_ != nullptr) listener_.emplace(cancel_, [this] { wake(Wake::kCancelled); });
  }
  [[nodiscard]] Wake await_resume() const { return *why_; }

 private:
  friend class WaitList;
  void unlink() {
    if (previous_next_ == nullptr) return;
    *previous_next_ = next_;
    if (next_ != nullptr) next_->previous_next_ = previous_next_;
    previous_next_ = nullptr;
    next_ = nullptr;
  }

  io::Loop& loop_;
  Nanos deadline_;
  CancelSource* cancel_;
  std::optional<Wake> why_;
  std::coroutine_handle<> handle_;
  io::Loop::Timer timer_;
  std::optional<CancelSource::Listener> listener_;
  Waiter* next_ = nullptr;            // a WaitList's list
  Waiter** previous_next_ = nullptr;  // what points here
};

// Many waiters; notify() wakes those that wait now, the longest waiting first.
class WaitList {
 public:
  WaitList() = default;
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;
  void add(Waiter& waiter) {
    Waiter** end = &head_;
    while (*end != nullptr) end = &(*end)->next_;
    *end = &waiter;
    waiter.previous_next_ = end;
  }
  void notify() {
    // Those woken may wait again at once: they go to a list that this call does not touch.
    Waiter* now = head_;
    head_ = nullptr;
    if (now != nullptr) now->previous_next_ = &now;
    while (now != nullptr) now->wake();
  }
  [[nodiscard]] bool empty() const { return head_ == nullptr; }

 private:
  Waiter* head_ = nullptr;
};

}  // namespace forebay::store

// A condition that tasks wait for with a deadline and a cancel: notify_all() wakes everybody
// through the loop's next turn, never inside the notifier. Waiters look again at what they waited
// for.
//
// Threads: one core. Ownership: the waiter's node lives in its frame; a frame that is destroyed
// leaves the list.
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>

#include "core/cancel.h"
#include "io/loop.h"

namespace forebay::store {

class Signal {
 public:
  explicit Signal(io::Loop& loop) : loop_(loop) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  class Wait {
   public:
    Wait(Signal& signal, Nanos deadline, CancelSource* cancel)
        : signal_(signal), deadline_(deadline), cancel_source_(cancel) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() { unlink(); }

    [[nodiscard]] bool await_ready() const {
      return signal_.loop_.now() >= deadline_ ||
             (cancel_source_ != nullptr && cancel_source_->cancelled());
    }
    void await_suspend(std::coroutine_handle<> self) {
      waiter_ = self;
      next_ = signal_.first_;
      if (next_ != nullptr) next_->previous_ = this;
      signal_.first_ = this;
      linked_ = true;
      if (deadline_ < kForever) wake_at(deadline_);
      if (cancel_source_ != nullptr) {
        listener_.emplace(cancel_source_, [this] { wake_at(signal_.loop_.now()); });
      }
    }
    void await_resume() const {}

   private:
    friend class Signal;
    void wake_at(Nanos at) {
      timer_.cancel();
      signal_.loop_.arm(timer_, at, [this] {
        unlink();
        waiter_.resume();
      });
    }
    void unlink() {
      if (!linked_) return;
      linked_ = false;
      (previous_ == nullptr ? signal_.first_ : previous_->next_) = next_;
      if (next_ != nullptr) next_->previous_ = previous_;
    }

    Signal& signal_;
    Nanos deadline_;
    CancelSource* cancel_source_;
    std::optional<CancelSource::Listener> listener_;
    std::coroutine_handle<> waiter_;
    io::Loop::Timer timer_;
    Wait* previous_ = nullptr;
    Wait* next_ = nullptr;
    bool linked_ = false;
  };

  // Ends at a notify_all(), at `deadline`, or when `cancel` fires: the caller asks which.
  [[nodiscard]] Wait wait(Nanos deadline = kForever, CancelSource* cancel = nullptr) {
    return {*this, deadline, cancel};
  }
  void notify_all() {
    const Nanos now = loop_.now();
    while (first_ != nullptr) {
      Wait& wait = *first_;
      wait.unlink();
      wait.wake_at(now);
    }
  }

 private:
  io::Loop& loop_;
  Wait* first_ = nullptr;
};

}  // namespace forebay::store

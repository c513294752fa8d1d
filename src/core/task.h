// Task<T>: a request as a coroutine that reads top to bottom.
//
//   Task<Result<Bytes>> read_all(Device& device) { ... co_await ...; co_return bytes; }
//
// Lazy: nothing runs until it is awaited, spawned (io::Loop::spawn) or started. The child starts
// inline and the parent suspends only if the child did: no symmetric transfer, so a million awaits
// that complete at once do not grow the stack under any compiler (docs/traps/coroutines.md).
//
// Ownership: the Task owns the frame; parameters are taken by value or as a pointer that outlives
// it. Threads: a task runs on the core that started it. Errors travel in T (a Result), not as
// exceptions.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/check.h"

namespace forebay {

template <class T>
class Task;

namespace detail {

struct PromiseBase {
  std::coroutine_handle<> continuation;
  bool started = false;

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Final {
    bool await_ready() noexcept { return false; }
    template <class P>
    void await_suspend(std::coroutine_handle<P> self) noexcept {
      // No touch of the frame after resume(): the parent may have destroyed it.
      if (const auto parent = self.promise().continuation) parent.resume();
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  // Exceptions are for allocation failure only; the data path has none to pass on.
  void unhandled_exception() noexcept { std::abort(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() { reset(); }

  // Runs until the first suspension. Once only; `done()` tells whether it ended at once.
  void start() {
    FOREBAY_CHECK(handle_ && !handle_.promise().started);
    handle_.promise().started = true;
    handle_.resume();
  }
  [[nodiscard]] bool valid() const { return static_cast<bool>(handle_); }
  [[nodiscard]] bool done() const { return handle_ && handle_.done(); }

  // The value of a finished task.
  T take() {
    FOREBAY_CHECK(done());
    if constexpr (!std::is_void_v<T>) return std::move(*handle_.promise().value);
  }

  struct Awaiter {
    Handle handle;
    bool await_ready() {
      if (!handle.promise().started) {
        handle.promise().started = true;
        handle.resume();
      }
      return handle.done();
    }
    void await_suspend(std::coroutine_handle<> parent) { handle.promise().continuation = parent; }
    [[nodiscard]] T await_resume() {
      if constexpr (!std::is_void_v<T>) return std::move(*handle.promise().value);
    }
  };
  // The temporary of `co_await f()` lives until the full expression ends, so the frame does too.
  Awaiter operator co_await() const {
    FOREBAY_CHECK(handle_);
    return Awaiter{handle_};
  }

 private:
  void reset() {
    if (handle_) handle_.destroy();
    handle_ = {};
  }
  Handle handle_;
};

namespace detail {
template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace detail

}  // namespace forebay

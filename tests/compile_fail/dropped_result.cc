// expect: ignoring return value
// The outcome of an awaited operation must be looked at (rule C8).
#include "core/error.h"
#include "core/task.h"

forebay::Task<forebay::Status> flush() { co_return forebay::Status{}; }

forebay::Task<forebay::Status> caller() {
#ifdef FOREBAY_CORRECT
  co_return co_await flush();
#else
  co_await flush();
  co_return forebay::Status{};
#endif
}

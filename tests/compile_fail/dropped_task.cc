// expect: ignoring return value
// A task that nobody awaits or spawns never runs: dropping one must not compile (rule C8).
#include "core/task.h"

forebay::Task<int> answer() { co_return 42; }

forebay::Task<int> caller() {
#ifdef FOREBAY_CORRECT
  co_return co_await answer();
#else
  answer();
  co_return 0;
#endif
}

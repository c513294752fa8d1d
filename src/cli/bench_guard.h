// A benchmark leaves nothing behind, however it ends: its files go, and the machine's reserve of
// huge pages is what it was.
//
// Blocking: until the benchmark has ended. Threads: call it before there are any. Only SIGKILL of
// the waiting process itself leaves something.
#pragma once

#include <string>
#include <vector>

namespace forebay::cli {

// Goes on in a child process, which returns from here; this one waits for it, passes signals on,
// ends what the child had started, removes what is left of `scratch` (files, or folders with all
// that is in them), and ends as the child did. Where no process can be made it returns: unguarded.
void guard_bench(const std::vector<std::string>& scratch);

}  // namespace forebay::cli

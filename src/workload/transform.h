// Changes of a workload that keep what it says about reuse.
//
// slice() works on a whole trace in order of arrival; the others on one request, so that they work
// on a stream too. Threads: values. Errors: kInvalid, which leaves the request as it was.
#pragma once

#include <cstdint>
#include <limits>

#include "core/error.h"
#include "workload/reader.h"
#include "workload/request.h"

namespace forebay::workload {

// Arrivals in [from_ns, to_ns), the first request_count_max of them; they then count from from_ns.
struct Slice {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
  std::uint64_t request_count_max = std::numeric_limits<std::uint64_t>::max();
};
// Requests whose parent is cut away start on their own, at their arrival; a note says how many.
void slice(Trace& trace, const Slice& slice);

// Arrivals and waits come `factor` times as fast; factor > 0.
void speed_up(Request& request, double factor);
void speed_up(Trace& trace, double factor);

// Blocks of `block_tokens` instead of the request's, when one size is a multiple of the other.
// Merging keeps what whole new blocks share; splitting shares as far as the old blocks did. A
// request without block identities stays so.
[[nodiscard]] Status reblock(Request& request, std::uint32_t block_tokens);
[[nodiscard]] Status reblock(Trace& trace, std::uint32_t block_tokens);

// Lengths and block size times multiply / divide, so that each request keeps its very block ids: a
// trace of 512-token blocks divided by 8 has blocks of 64. kInvalid when the block size does not
// divide, or leaves what a reader accepts.
struct TokenScale {
  std::uint32_t multiply = 1;
  std::uint32_t divide = 1;
};
[[nodiscard]] Status scale_tokens(Request& request, TokenScale scale);
[[nodiscard]] Status scale_tokens(Trace& trace, TokenScale scale);

}  // namespace forebay::workload

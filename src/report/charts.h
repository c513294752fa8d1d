// The drawings of a result. Each is one SVG, "" where there is nothing to draw. Pure.
#pragma once

#include <string>

#include "report/format.h"
#include "report/summary.h"
#include "report/svg.h"

namespace forebay::report {

// Share of requests with a first token by then, an arm a line, time logarithmic.
[[nodiscard]] std::string ttft_chart(const RunLog& log, const Summary& summary);
// The same of how late the client sent; "" where none was late, as in virtual time.
[[nodiscard]] std::string lag_chart(const RunLog& log);
// Mean TTFT of each arm in `unit`, cut into queue, lookup, read, recompute, other.
[[nodiscard]] std::string where_chart(const Summary& summary, const Unit& unit);
// Where the KV blocks of the prompts came from.
[[nodiscard]] std::string sources_chart(const Summary& summary);
// Bytes read and written by the storage device of one arm, in its first complete round.
[[nodiscard]] std::string traffic_chart(const RunLog& log, std::size_t arm, double rate_max);
// The highest rate in any of those charts, so that they share an axis; 0 without any traffic.
[[nodiscard]] double traffic_rate_max(const RunLog& log);
// Mean TTFT of every round, so that the noise can be seen.
[[nodiscard]] std::string rounds_chart(const Summary& summary);

// Lines and numbers of a time axis (values in ns) below a drawing from `top` to `bottom`.
void time_axis(Svg& svg, const Scale& x, double top, double bottom);
// The CSS variable of an arm's colour, by its place.
[[nodiscard]] std::string arm_color(std::size_t arm);
// Colour is not the only difference between two lines; the candidate's is the solid one.
[[nodiscard]] const char* arm_dashes(std::size_t arm, bool candidate);

}  // namespace forebay::report

// Does a quantity rise while a series lasts? Answered over a few series, so that it holds where the
// values of one series hang together, as the waits of requests in one queue do.
//
// The unit is the series, never the value. Each gives one number, Kendall's tau of its values
// against their order: 1 when every later value is larger, -1 when every one is smaller, 0 on
// average when none is more likely than the other, however neighbours hang together. Taus of
// independent series differ by chance alone, so that their own spread says how far their mean may
// stray from 0: one-sided Student's t at 1 %. A rise that is sure but small is none: the mean must
// reach kTauOfSeveral as well, which means that of two values the later is larger three times in
// four.
//
// One series, or two, have no spread to go by, nor have series that repeat each other: then the
// mean must reach kTauOfOne, which values that have nothing to do with their order do not.
//
// False alarms without a rise: at most 1 in 100. That is measured, and the test repeats it, for 30
// values whose neighbours correlate by up to 0.9, and for a settled queue at 0.8 of what it can
// serve; longer series have fewer. A random walk, or a queue that begins empty and needs longer
// than the series to settle, does rise. Pure.
#pragma once

#include <span>

namespace forebay::gate {

inline constexpr double kTauOfSeveral = 0.5;
inline constexpr double kTauOfOne = 0.8;
inline constexpr double kRiseFalseAlarms = 0.01;

// Equal values count for neither side (tau a). 0 below two values. n log n.
[[nodiscard]] double kendall_tau(std::span<const double> values);

// `independent`: no series repeats what another drew.
[[nodiscard]] bool shows_rise(std::span<const double> taus, bool independent);

}  // namespace forebay::gate

// Random variates that are the same bits on every machine.
//
// The C library's log, exp and pow may differ in the last place between versions and processors
// (and by fused multiply-adds), which is enough to shift a rounded arrival. These use only +, -, *,
// / and square roots, each exact by IEEE 754, with contraction off. Threads: an Rng belongs to one
// owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rng.h"

namespace forebay::workload {

// Within 2 units in the last place; value > 0.
[[nodiscard]] double exact_log(double value);
// Within 4 units in the last place; |value| <= 700.
[[nodiscard]] double exact_exp(double value);

// Mean 1.
[[nodiscard]] double draw_exponential(Rng& rng);
// Mean 0, variance 1.
[[nodiscard]] double draw_normal(Rng& rng);
// Mean shape, variance shape; shape in [1e-3, 1e6].
[[nodiscard]] double draw_gamma(Rng& rng, double shape);
// exp(normal): median 1; sigma is the deviation of the logarithm, at most 10.
[[nodiscard]] double draw_lognormal(Rng& rng, double sigma);

// Ranks 0 .. size-1 with probability proportional to 1 / (rank + 1)^exponent.
class Zipf {
 public:
  // size >= 1; exponent >= 0 (0: uniform). Memory: 8 bytes a rank.
  Zipf(std::size_t size, double exponent);
  [[nodiscard]] std::size_t draw(Rng& rng) const;

 private:
  std::vector<double> upper_;  // cumulated weights
};

}  // namespace forebay::workload

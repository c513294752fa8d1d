#include "workload/draws.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/check.h"

#pragma STDC FP_CONTRACT OFF

namespace forebay::workload {
namespace {

// ln 2 in two parts: the first has its low 21 bits clear, so that k * kLn2High is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

}  // namespace

double exact_log(double value) {
  FOREBAY_CHECK(value > 0 && std::isfinite(value));
  // value = m * 2^k with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s), s = (m-1)/(m+1).
  int k = 0;
  double m = std::frexp(value, &k);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --k;
  }
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  // |s| <= 0.172: s^(2*12) is below 2^-60.
  double tail = 0;
  for (int i = 25; i >= 3; i -= 2) tail = square * (1.0 / i + tail);
  return k * kLn2High + (2 * s + (2 * s * tail + k * kLn2Low));
}

double exact_exp(double value) {
  FOREBAY_CHECK(value >= -700 && value <= 700);
  // value = k ln 2 + r with |r| <= ln 2 / 2; the series of e^r to r^17 / 17!.
  const double k = std::floor(value * 0x1.71547652b82fep0 + 0.5);
  const double r = (value - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int i = 17; i >= 1; --i) sum = 1 + r * sum / i;
  return std::ldexp(sum, static_cast<int>(k));
}

double draw_exponential(Rng& rng) { return -exact_log(1 - rng.uniform()); }

double draw_normal(Rng& rng) {
  // Marsaglia's polar method; the second of the pair is dropped, so that a draw has no state.
  while (true) {
    const double x = 2 * rng.uniform() - 1;
    const double y = 2 * rng.uniform() - 1;
    const double square = x * x + y * y;
    if (square >= 1 || square == 0) continue;
    return x * std::sqrt(-2 * exact_log(square) / square);
  }
}

double draw_gamma(Rng& rng, double shape) {
  FOREBAY_CHECK(shape >= 1e-3 && shape <= 1e6);
  if (shape < 1) {
    // Gamma(shape) = Gamma(shape + 1) * U^(1/shape), far below 1 at times: floor at e^-700.
    const double power = exact_log(1 - rng.uniform()) / shape;
    return draw_gamma(rng, shape + 1) * exact_exp(std::max(-700.0, power));
  }
  // Marsaglia and Tsang 2000.
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draw_normal(rng);
    const double base = 1 + c * x;
    if (base <= 0) continue;
    const double v = base * base * base;
    const double u = 1 - rng.uniform();
    if (exact_log(u) < 0.5 * x * x + d - d * v + d * exact_log(v)) return d * v;
  }
}

double draw_lognormal(Rng& rng, double sigma) {
  FOREBAY_CHECK(sigma >= 0 && sigma <= 10);
  return exact_exp(sigma * draw_normal(rng));
}

Zipf::Zipf(std::size_t size, double exponent) {
  FOREBAY_CHECK_LT(std::size_t{0}, size);
  upper_.reserve(size);
  double sum = 0;
  for (std::size_t rank = 1; rank <= size; ++rank) {
    const double power = -exponent * exact_log(static_cast<double>(rank));
    sum += exact_exp(std::max(-700.0, power));
    upper_.push_back(sum);
  }
}

std::size_t Zipf::draw(Rng& rng) const {
  const double at = rng.uniform() * upper_.back();
  const auto found = std::ranges::upper_bound(upper_, at);
  const auto rank = static_cast<std::size_t>(found - upper_.begin());
  return std::min(rank, upper_.size() - 1);
}

}  // namespace forebay::workload

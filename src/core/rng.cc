#include "core/rng.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "core/check.h"
#include "core/hash.h"

namespace forebay {

Rng::Rng(std::uint64_t seed) : seed_(seed) {
  for (std::uint64_t& word : state_) {
    word = mix64(seed);
    seed += 0x9e3779b97f4a7c15ULL;
  }
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  FOREBAY_CHECK_LT(0U, bound);
  // Reject the part of the range that does not divide evenly.
  const std::uint64_t limit = max() - max() % bound;
  std::uint64_t value = next();
  while (value >= limit) value = next();
  return value % bound;
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Rng::exponential() { return -std::log1p(-uniform()); }

double Rng::normal() {
  // Box-Muller; one of the pair is dropped to keep the draw count per call fixed.
  const double radius = std::sqrt(2 * exponential());
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Rng::gamma(double shape, double scale) {
  FOREBAY_CHECK_LT(0.0, shape);
  // Marsaglia and Tsang 2000; below shape 1 by the boost x * u^(1/shape).
  if (shape < 1) return gamma(shape + 1, scale) * std::pow(1 - uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

Rng Rng::fork(std::string_view name) const { return Rng(mix64(seed_ ^ hash64(name))); }

}  // namespace forebay

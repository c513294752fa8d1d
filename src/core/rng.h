// Chance is passed in: a small, fast, seeded generator (xoshiro256++, Blackman and Vigna 2019).
//
// The same seed gives the same sequence on every machine, so one printed seed reproduces a run.
// fork() derives an independent stream by name, so that adding a draw in one place does not shift
// the draws of another. Threads: an Rng belongs to one owner.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace forebay {

// splitmix64: turns any 64-bit value into a well mixed one. Also the seed expander of Rng.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  [[nodiscard]] std::uint64_t next();
  // Uniform in [0, bound); bound > 0. Unbiased.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  [[nodiscard]] double uniform();
  [[nodiscard]] bool chance(double probability) { return uniform() < probability; }
  // Mean 1.
  [[nodiscard]] double exponential();
  // Mean 0, variance 1.
  [[nodiscard]] double normal();
  // Mean shape * scale; shape > 0.
  [[nodiscard]] double gamma(double shape, double scale);

  // Depends on the seed and the name only, not on how much was drawn before.
  [[nodiscard]] Rng fork(std::string_view name) const;

  // UniformRandomBitGenerator, so that std::shuffle takes it.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~std::uint64_t{0}; }
  result_type operator()() { return next(); }

 private:
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace forebay

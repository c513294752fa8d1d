// What the past says about the future of a block: how soon blocks like it are touched again.
//
// Blocks are grouped by (times touched, whether their chain was known, length of the chain, key
// space). Per group and age (half octaves, counted in requests) the model estimates the chance of a
// touch, as survival analysis does: a block that is still untouched counts as at risk up to its
// age. The value of a block is its Gittins index: the best ratio, over all horizons, of expected
// touches to expected residence until the touch or the horizon (Gittins 1979; for caches: Beckmann
// et al.). Sparse groups lean on their parents (same touches and knowledge; then all blocks).
//
// Pure and deterministic. Threads: one owner. Old evidence fades by halves.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/error.h"

namespace forebay::store::policy {

inline constexpr std::size_t kAgeBins = 40;  // up to 2^20 requests
[[nodiscard]] std::size_t age_bin(std::uint32_t age_requests);

struct ReuseGroup {
  static constexpr std::size_t kTouchClasses = 6;
  static constexpr std::size_t kLengthClasses = 12;
  static constexpr std::size_t kSpaces = 4;  // key spaces beyond share by remainder
  static constexpr std::size_t kCount = kTouchClasses * 2 * kLengthClasses * kSpaces;
  [[nodiscard]] static std::uint16_t of(std::uint32_t touches, bool known,
                                        std::uint32_t chain_blocks, std::uint16_t space);
  // The family a group leans on: its touches and knowledge, all lengths and spaces.
  [[nodiscard]] static std::size_t family_of(std::size_t group);
  static constexpr std::size_t kFamilies = kTouchClasses * 2;
};

class ReuseModel {
 public:
  ReuseModel();
  // An interval between touches ended: by a touch, or out of sight (evicted from memory of it).
  void ended(std::uint16_t group, std::uint32_t age_requests, bool touched);

  // A survey of blocks not touched since `age`, each standing for `weight`; then new values.
  void begin_survey();
  void alive(std::uint16_t group, std::uint32_t age_requests, float weight);
  void end_survey();

  [[nodiscard]] float value(std::uint16_t group, std::uint32_t age_requests) const {
    return values_[group][age_bin(age_requests)];
  }
  [[nodiscard]] std::vector<std::byte> save() const;
  [[nodiscard]] Status restore(std::span<const std::byte> saved);
  [[nodiscard]] std::size_t bytes_used() const;

 private:
  using Bins = std::array<float, kAgeBins>;
  struct Counts {
    Bins touched{};
    Bins lost{};
    Bins alive{};
  };
  void fade();

  std::vector<Counts> groups_;
  std::vector<Bins> values_;
  double evidence_ = 0;
};

}  // namespace forebay::store::policy

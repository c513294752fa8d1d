// What the past says about the future of a block: how soon blocks like it are touched again.
//
// Blocks are grouped by how often they were touched, how soon their chain came back the last time,
// the length of the chain, whether they were its tip, and the key space. Per group and age (half
// octaves, counted in requests) the model estimates the chance of a touch, as survival analysis
// does: a block that is still untouched counts as at risk up to its age. The value of a block is
// its Gittins index: the best ratio, over all horizons, of expected touches to expected residence
// until the touch or the horizon (Gittins 1979; for caches: Beckmann et al.). Sparse groups lean on
// their family (the same but for length and space), and that on all blocks.
//
// Age is counted in requests and not in time: what pushes a block out is what others bring in, so a
// night without traffic makes no block less worth, and a busy hour ages what it does not touch.
//
// Work comes in small pieces: refresh() values a few groups at a time. Pure and deterministic.
// Threads: one owner. Old evidence fades by halves, so that what is learned follows a drift.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/error.h"

namespace forebay::store::policy {

inline constexpr std::size_t kAgeBins = 40;  // up to 2^20 requests
[[nodiscard]] std::size_t age_bin(std::uint32_t age_requests);

// What a group's members have in common.
struct ReuseTraits {
  std::uint32_t touches = 1;
  std::uint32_t chain_blocks = 0;
  std::uint8_t return_class = 0;  // return_class_of(); 0: the chain was not known
  bool tip = false;               // the chain's last block, often not full
  std::uint16_t space = 0;        // key space
};

struct ReuseGroup {
  static constexpr std::size_t kTouchClasses = 8;
  static constexpr std::size_t kReturnClasses = 5;
  static constexpr std::size_t kLengthClasses = 12;
  static constexpr std::size_t kSpaces = 4;  // key spaces beyond share by remainder
  static constexpr std::size_t kFamilies = kTouchClasses * kReturnClasses * 2;
  static constexpr std::size_t kCount = kFamilies * kLengthClasses * kSpaces;
  [[nodiscard]] static std::uint16_t of(const ReuseTraits& traits);
  // The least of touches that a group's members have.
  [[nodiscard]] static std::uint8_t touches_of(std::size_t group);
  // Below 8, 32 and 128 requests, and more, between a chain's last two touches.
  [[nodiscard]] static std::uint8_t return_class_of(std::uint32_t age_requests);
  [[nodiscard]] static std::size_t family_of(std::size_t group) { return group % kFamilies; }
};

class ReuseModel {
 public:
  ReuseModel();
  // A block joins the group: values it, if it was never seen.
  void met(std::uint16_t group);
  // An interval between touches ended: by a touch, or out of sight (evicted from memory of it).
  void ended(std::uint16_t group, std::uint32_t age_requests, bool touched);
  void fade();

  // A survey of blocks not touched since `age`, each standing for `weight`.
  void begin_survey();
  void alive(std::uint16_t group, std::uint32_t age_requests, float weight);
  void end_survey();
  // Values the next `count` groups by the last survey; false once all are done.
  bool refresh(std::size_t count);

  [[nodiscard]] float value(std::uint16_t group, std::uint32_t age_requests) const {
    return groups_[group].value[age_bin(age_requests)];
  }
  [[nodiscard]] const std::vector<std::uint16_t>& seen() const { return seen_; }
  [[nodiscard]] std::vector<std::byte> save() const;
  // kCorrupt, kVersion: nothing was taken over.
  [[nodiscard]] Status restore(std::span<const std::byte> saved);
  [[nodiscard]] std::size_t bytes_used() const;

 private:
  using Bins = std::array<float, kAgeBins>;
  struct Group {
    bool seen = false;
    Bins touched{};
    Bins lost{};
    Bins alive{};   // by the last whole survey
    Bins survey{};  // by the one under way
    Bins value{};
  };
  void revalue(std::uint16_t group);

  std::vector<Group> groups_;
  std::vector<std::uint16_t> seen_;
  std::vector<Bins> family_hazards_;
  std::size_t next_refresh_ = 0;
  double evidence_ = 0;
};

}  // namespace forebay::store::policy

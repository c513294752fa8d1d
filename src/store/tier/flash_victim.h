// Which segment to reclaim, and which of its records to keep.
//
// Room costs worth: on a full device each byte gained takes something that was worth keeping, and
// `marginal` is how much, as learnt from the last reclaims. So a record is moved only when it is
// worth clearly more than what its room would take elsewhere, at most moved_fraction_max of a
// segment; a segment costs what it loses, and a little for what it moves, per byte of room. Old
// segments count less: what a young one holds may yet be forgotten. The segment that a close left
// short is therefore among the first to go, though its blocks are the newest: for what it holds it
// takes the most room. Pure arithmetic over samples.
#pragma once

#include <cstdint>
#include <span>

namespace forebay::store {

struct SampledWorth {
  std::uint32_t pages = 0;
  bool live = false;
  double worth_per_byte = 0;
};

struct VictimFacts {
  std::uint64_t sequence = 0;
  double live_fraction = 0;         // of the segment's pages
  double age = 0;                   // segments begun since, over all segments
  std::span<SampledWorth> samples;  // reordered
};

struct VictimCost {
  double cost = 0;
  double moved_fraction = 0;
  std::uint64_t sequence = 0;
  // Cheaper first; then less to move, then older.
  [[nodiscard]] bool better_than(const VictimCost& other) const;
};

class VictimTerms {
 public:
  explicit VictimTerms(double moved_fraction_max) : moved_fraction_max_(moved_fraction_max) {}

  void set_moved_fraction_max(double fraction) { moved_fraction_max_ = fraction; }
  [[nodiscard]] double moved_fraction_max() const { return moved_fraction_max_; }
  [[nodiscard]] bool worth_moving(double worth_per_byte) const;
  [[nodiscard]] VictimCost cost_of(const VictimFacts& facts) const;
  // A segment was emptied: the worth it lost, over the room it gave, both in pages.
  void learn(double lost_worth, double room);
  [[nodiscard]] double marginal() const { return marginal_; }

 private:
  double moved_fraction_max_;
  double marginal_ = 0;
};

}  // namespace forebay::store

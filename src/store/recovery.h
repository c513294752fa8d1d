// From what the flash tier found at open to an index that is warm: entries, chains, usage, heat.
//
// Records come in batches; the index's cache misses of a batch overlap. Heat is restored as order:
// when all have come they are listed in the flash policy from the coldest class to the warmest, in
// each the newest first, so that of a chain the deepest is the oldest. A policy that goes on from
// what it had learned takes a block's group and age from the same word.
//
// Units: records. Threads: one core. Memory while it lasts: twelve bytes a record.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/residency.h"

namespace forebay::store {

// A worth as a word that media keep: greater worth, greater word; 0 only for nothing.
[[nodiscard]] std::uint32_t heat_of_worth(double worth);
// With the policy's mark above it: media keep both in one word.
[[nodiscard]] std::uint32_t heat_word(double worth, std::uint32_t mark);

class Recovery {
 public:
  Recovery(Residency* residency, Spaces* spaces) : residency_(residency), spaces_(spaces) {}

  void expect(std::uint64_t record_count);
  void take(std::span<const RecoveredRecord> batch);
  // Lists everything by heat.
  void finish();

  // Records that a newer one of the same block replaced.
  struct Replaced {
    BlockId id;
    FlashPage page;
    std::uint32_t data_bytes;
  };
  [[nodiscard]] std::span<const Replaced> replaced() const { return replaced_; }
  // Records that cannot be used: of no size a store takes, or of one key space too many.
  [[nodiscard]] std::uint64_t unusable_count() const { return unusable_count_; }

 private:
  static constexpr std::size_t kClasses = 256;
  void take_one(const RecoveredRecord& record);

  Residency* residency_;
  Spaces* spaces_;
  std::vector<std::uint32_t> heat_;  // by slot; the marks once they are in order
  std::vector<Replaced> replaced_;
  std::uint64_t unusable_count_ = 0;
};

}  // namespace forebay::store

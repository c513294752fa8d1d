// Which late cells of a run are done again. Decided by lateness alone, never by what a cell
// measured.
//
// Pure; one object a run.
#pragma once

#include <cstdint>

namespace forebay::joint {

class LateRepeats {
 public:
  static constexpr std::uint64_t kAttemptsMax = 3;  // of one cell, the first included
  explicit LateRepeats(std::uint64_t repeats_max) : left_(repeats_max) {}

  // `attempt` (from 1) of a cell was late. Once a cell was late in all its attempts the machine is
  // too slow for the run, and no other cell is done again.
  [[nodiscard]] bool take(std::uint64_t attempt) {
    if (attempt >= kAttemptsMax) left_ = 0;
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  std::uint64_t left_;
};

}  // namespace forebay::joint

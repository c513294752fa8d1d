// When sessions begin: Poisson, Gamma gaps, or Poisson that is switched on and off.
#pragma once

#include <cstdint>

#include "core/rng.h"
#include "workload/generator.h"

namespace forebay::workload {

class ArrivalProcess {
 public:
  ArrivalProcess(const GeneratorOptions& options, Rng rng);
  // Nanoseconds from the start, never less than the one before.
  [[nodiscard]] std::int64_t next_ns();

 private:
  [[nodiscard]] double gap_s();
  [[nodiscard]] double on_off_gap_s();

  ArrivalKind kind_;
  double rate_per_s_;
  double gap_shape_;  // of the Gamma distribution
  double on_s_mean_;
  double off_s_mean_;
  Rng rng_;
  double now_s_ = 0;
  double on_left_s_ = 0;
};

}  // namespace forebay::workload

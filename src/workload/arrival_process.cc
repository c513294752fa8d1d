#include "workload/arrival_process.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workload/draws.h"
#include "workload/row_reader.h"

#pragma STDC FP_CONTRACT OFF

namespace forebay::workload {

ArrivalProcess::ArrivalProcess(const GeneratorOptions& options, Rng rng)
    : kind_(options.arrivals),
      rate_per_s_(options.sessions_per_s),
      gap_shape_(1 / (options.gap_cv * options.gap_cv)),
      on_s_mean_(options.on_s_mean),
      off_s_mean_(options.off_s_mean),
      rng_(std::move(rng)) {
  if (kind_ == ArrivalKind::kOnOff) on_left_s_ = draw_exponential(rng_) * on_s_mean_;
}

// A gap that the on phase does not last for goes on, memoryless, in the next one.
double ArrivalProcess::on_off_gap_s() {
  const double on_rate_per_s = rate_per_s_ * (on_s_mean_ + off_s_mean_) / on_s_mean_;
  double passed_s = 0;
  while (true) {
    const double gap_s = draw_exponential(rng_) / on_rate_per_s;
    if (gap_s <= on_left_s_) {
      on_left_s_ -= gap_s;
      return passed_s + gap_s;
    }
    passed_s += on_left_s_ + draw_exponential(rng_) * off_s_mean_;
    on_left_s_ = draw_exponential(rng_) * on_s_mean_;
  }
}

double ArrivalProcess::gap_s() {
  switch (kind_) {
    case ArrivalKind::kPoisson:
      return draw_exponential(rng_) / rate_per_s_;
    case ArrivalKind::kGamma:
      return draw_gamma(rng_, gap_shape_) / (gap_shape_ * rate_per_s_);
    case ArrivalKind::kOnOff:
      return on_off_gap_s();
  }
  return 0;
}

std::int64_t ArrivalProcess::next_ns() {
  now_s_ += gap_s();
  return std::llround(std::min(now_s_ * 1e9, static_cast<double>(kTimeNsMax)));
}

}  // namespace forebay::workload

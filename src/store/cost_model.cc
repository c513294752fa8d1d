#include "store/cost_model.h"

#include <algorithm>
#include <cmath>

namespace forebay::store {
namespace {

// Beliefs before the first outcome: an ordinary NVMe drive, one core's memcpy.
constexpr TransferModel::Prior kFlashPrior{.latency_ns = 100'000, .bytes_per_second = 1e9};
constexpr TransferModel::Prior kDramPrior{.latency_ns = 0, .bytes_per_second = 5e9};
// Sizes must differ by this much (deviation over mean) before a slope can be read from them.
constexpr double kSpreadMin = 0.1;

}  // namespace

TransferModel::TransferModel(Prior prior)
    : latency_ns_(prior.latency_ns), ns_per_byte_(1e9 / prior.bytes_per_second) {}

double TransferModel::estimate_ns(std::uint64_t bytes_ahead) const {
  return latency_ns_ + ns_per_byte_ * static_cast<double>(bytes_ahead);
}

double TransferModel::margin() const { return std::min(1 + error_, kMarginMax); }

double TransferModel::bytes_per_second() const { return ns_per_byte_ > 0 ? 1e9 / ns_per_byte_ : 0; }

void TransferModel::observe(std::uint64_t bytes_ahead, Nanos took) {
  if (bytes_ahead == 0) return;
  const auto bytes = static_cast<double>(bytes_ahead);
  const double expected = estimate_ns(bytes_ahead);
  auto ns = static_cast<double>(std::max<std::int64_t>(took.count(), 0));
  if (observation_count_++ == 0) {
    mean_bytes_ = bytes;
    mean_ns_ = ns;
    fit();
    return;
  }
  ns = std::min(ns, std::max(expected, 1.0) * kOutlierMax);
  const double off = std::abs(ns - expected) / std::max(expected, 1.0);
  const int side = off <= 0.5 ? 0 : (ns > expected ? 1 : -1);
  // The first that is off may be a stall; the second on the same side is a change.
  const bool changed = side != 0 && side == last_side_;
  last_side_ = side;
  // Hope is cheap: a load that turns out slow again says so at once, one never tried says nothing.
  const double changed_weight = side < 0 ? kForgetFaster : kForgetFast;
  const double weight = changed ? changed_weight : kForgetSlow;
  // Exponentially weighted moments (Welford with decay).
  const double delta_bytes = bytes - mean_bytes_;
  mean_bytes_ += weight * delta_bytes;
  variance_bytes_ = (1 - weight) * (variance_bytes_ + weight * delta_bytes * delta_bytes);
  covariance_ = (1 - weight) * (covariance_ + weight * delta_bytes * (ns - mean_ns_));
  mean_ns_ += weight * (ns - mean_ns_);
  // A change is not scatter: it must not keep what is steady again from being believed.
  error_ += (off < error_ ? kForgetError : kForgetSlow) * (std::min(off, 1.0) - error_);
  fit();
}

void TransferModel::fit() {
  const double proportional = mean_ns_ / mean_bytes_;
  double slope = proportional;
  if (variance_bytes_ > kSpreadMin * kSpreadMin * mean_bytes_ * mean_bytes_) {
    slope = std::clamp(covariance_ / variance_bytes_, 0.0, proportional);
  }
  // Equal sizes cannot tell latency from rate: then all is rate, which never flatters a longer
  // load.
  ns_per_byte_ = slope;
  latency_ns_ = std::max(0.0, mean_ns_ - slope * mean_bytes_);
}

PrefillModel::PrefillModel(Nanos told_per_token)
    : ns_per_token_(static_cast<double>(told_per_token.count())) {}

void PrefillModel::observe(std::uint64_t tokens, Nanos took) {
  if (tokens == 0 || took <= Nanos{0}) return;
  if (tokens_ == 0 && ns_per_token_ > 0) {
    // What was told counts as much as the first thing seen.
    tokens_ = static_cast<double>(tokens);
    took_ns_ = ns_per_token_ * tokens_;
  }
  tokens_ = (1 - kForget) * tokens_ + static_cast<double>(tokens);
  took_ns_ = (1 - kForget) * took_ns_ + static_cast<double>(took.count());
  ns_per_token_ = took_ns_ / tokens_;
}

CostModel::CostModel(Nanos told_prefill_per_token)
    : dram_(kDramPrior), flash_(kFlashPrior), prefill_(told_prefill_per_token) {}

WorthScan::Rates CostModel::rates() const {
  WorthScan::Rates rates;
  rates.dram_ns_per_byte = dram_.ns_per_byte() * dram_.margin();
  rates.flash_start_ns = flash_.estimate_ns(flash_in_flight_bytes_) * flash_.margin();
  rates.flash_ns_per_byte = flash_.ns_per_byte() * flash_.margin();
  rates.prefill_ns_per_token = prefill_.ns_per_token();
  return rates;
}

CostModel::Ticket CostModel::begin_flash(std::uint64_t bytes, Nanos now) {
  flash_in_flight_bytes_ += bytes;
  return {.start = now, .bytes = bytes, .bytes_ahead = flash_in_flight_bytes_};
}

void CostModel::end_flash(const Ticket& ticket, Nanos now, bool counts) {
  flash_in_flight_bytes_ -= ticket.bytes;
  if (!counts) return;
  last_seen_ = now;
  flash_.observe(ticket.bytes_ahead, now - ticket.start);
}

bool CostModel::take_probe(Nanos now) {
  const Nanos interval = flash_.seems_faster() ? kProbeIntervalHopeful : kProbeInterval;
  if (now - last_seen_ < interval) return false;
  last_seen_ = now;
  return true;
}

}  // namespace forebay::store

// Is loading faster than recomputing? Rates of each tier and of the engine, learnt as they run
// (DESIGN D5), and the split of a prefix into "load this much, recompute the rest".
//
// Pure: told every instant and every outcome. Units: bytes, tokens, nanoseconds. Threads: one
// owner. A tier's time is modelled as latency + bytes_ahead / rate, where bytes_ahead is everything
// that the device must move before the load is done: what was in flight already, and the load.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/clock.h"

namespace forebay::store {

// A line through (bytes ahead, time taken) with exponential forgetting. One wild outcome moves it
// little, a lasting change quickly.
class TransferModel {
 public:
  // What is believed before anything was seen.
  struct Prior {
    double latency_ns;
    double bytes_per_second;
  };
  explicit TransferModel(Prior prior);

  void observe(std::uint64_t bytes_ahead, Nanos took);
  // Of a typical outcome; margin() says how far the atypical ones are.
  [[nodiscard]] double latency_ns() const { return latency_ns_; }
  [[nodiscard]] double ns_per_byte() const { return ns_per_byte_; }
  // 1 + the mean relative error of the estimates so far, at most kMarginMax.
  [[nodiscard]] double margin() const;
  [[nodiscard]] double estimate_ns(std::uint64_t bytes_ahead) const;
  [[nodiscard]] double bytes_per_second() const;
  [[nodiscard]] std::uint64_t observation_count() const { return observation_count_; }
  // The last outcome was far better than believed.
  [[nodiscard]] bool seems_faster() const { return last_side_ < 0; }

  static constexpr double kForgetSlow = 0.05;   // of the past, per outcome that fits or is alone
  static constexpr double kForgetFast = 0.25;   // per further one that is off by more than half
  static constexpr double kForgetFaster = 0.5;  // the same, when it was faster than believed
  static constexpr double kForgetError = 0.1;   // of the scatter, per outcome with less of it
  static constexpr double kOutlierMax = 4;      // times the estimate: more is cut to this
  static constexpr double kMarginMax = 1.5;

 private:
  void fit();
  double mean_bytes_ = 0;
  double mean_ns_ = 0;
  double variance_bytes_ = 0;
  double covariance_ = 0;
  double latency_ns_;
  double ns_per_byte_;
  double error_ = 0;
  int last_side_ = 0;  // of the last outcome: far above (1) or below (-1) its estimate, or near it
  std::uint64_t observation_count_ = 0;
};

// What the engine needs to compute a token's KV anew.
class PrefillModel {
 public:
  explicit PrefillModel(Nanos told_per_token);
  void observe(std::uint64_t tokens, Nanos took);
  [[nodiscard]] bool known() const { return ns_per_token_ > 0; }
  [[nodiscard]] double ns_per_token() const { return ns_per_token_; }

  static constexpr double kForget = 0.1;

 private:
  double tokens_ = 0;  // decayed sums: long prefills weigh more than short ones
  double took_ns_ = 0;
  double ns_per_token_;
};

// Walks a present chain block by block and keeps the best place to stop loading.
class WorthScan {
 public:
  struct Rates {
    double dram_ns_per_byte = 0;
    double flash_start_ns = 0;  // latency, and the wait for what is in flight already
    double flash_ns_per_byte = 0;
    double prefill_ns_per_token = 0;  // 0: not known, then all is worth loading
  };
  explicit WorthScan(const Rates& rates) : rates_(rates) {}

  void add(bool from_dram, std::uint32_t bytes, std::uint32_t tokens) {
    if (from_dram) {
      load_ns_ += rates_.dram_ns_per_byte * bytes;
    } else {
      if (!touched_flash_) load_ns_ += rates_.flash_start_ns;
      touched_flash_ = true;
      load_ns_ += rates_.flash_ns_per_byte * bytes;
    }
    recompute_ns_ += rates_.prefill_ns_per_token * tokens;
    ++blocks_;
    const double gain = recompute_ns_ - load_ns_;
    if (gain > best_gain_ || rates_.prefill_ns_per_token == 0) {
      best_gain_ = gain;
      worth_blocks_ = blocks_;
      worth_load_ns_ = load_ns_;
      worth_recompute_ns_ = recompute_ns_;
    }
  }
  [[nodiscard]] std::size_t worth_blocks() const { return worth_blocks_; }
  [[nodiscard]] double load_ns() const { return worth_load_ns_; }
  [[nodiscard]] double recompute_ns() const { return worth_recompute_ns_; }

 private:
  Rates rates_;
  double load_ns_ = 0;
  double recompute_ns_ = 0;
  double best_gain_ = 0;  // loading nothing gains nothing
  double worth_load_ns_ = 0;
  double worth_recompute_ns_ = 0;
  std::size_t blocks_ = 0;
  std::size_t worth_blocks_ = 0;
  bool touched_flash_ = false;
};

// The models together, and the bytes in flight that they need.
class CostModel {
 public:
  explicit CostModel(Nanos told_prefill_per_token);

  [[nodiscard]] WorthScan::Rates rates() const;

  // A flash load of `bytes` begins; hand the ticket back when it ended.
  struct Ticket {
    Nanos start{0};
    std::uint64_t bytes = 0;
    std::uint64_t bytes_ahead = 0;
  };
  [[nodiscard]] Ticket begin_flash(std::uint64_t bytes, Nanos now);
  // `counts`: it delivered, or ran into its deadline; false for errors and cancelled loads, which
  // say nothing about speed.
  void end_flash(const Ticket& ticket, Nanos now, bool counts);
  void observe_dram(std::uint64_t bytes, Nanos took) { dram_.observe(bytes, took); }
  void observe_prefill(std::uint64_t tokens, Nanos took) { prefill_.observe(tokens, took); }

  // A tier that is not worth loading from is not seen any more, and could never show that it
  // recovered. True when it is time to read a little from it off the demand path; then the next
  // time is kProbeInterval later, sooner while it seems to recover.
  [[nodiscard]] bool take_probe(Nanos now);
  static constexpr Nanos kProbeInterval{100'000'000};
  static constexpr Nanos kProbeIntervalHopeful{20'000'000};

  [[nodiscard]] const TransferModel& flash() const { return flash_; }
  [[nodiscard]] const TransferModel& dram() const { return dram_; }
  [[nodiscard]] const PrefillModel& prefill() const { return prefill_; }
  [[nodiscard]] std::uint64_t flash_in_flight_bytes() const { return flash_in_flight_bytes_; }

 private:
  TransferModel dram_;
  TransferModel flash_;
  PrefillModel prefill_;
  std::uint64_t flash_in_flight_bytes_ = 0;
  Nanos last_seen_{0};
};

}  // namespace forebay::store

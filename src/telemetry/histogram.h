// A log-linear histogram in the manner of HdrHistogram: 3 significant digits, mergeable, exact
// count.
//
// Records non-negative 64-bit values (nanoseconds, bytes) with a relative error of at most 1/1000.
// About 190 KiB when values reach an hour in nanoseconds; grows with the largest value seen.
// Threads: one owner; merge() copies what others recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace forebay::telemetry {

class Histogram {
 public:
  void record(std::uint64_t value, std::uint64_t count = 1);
  void merge(const Histogram& other);
  void clear();

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t min() const;  // 0 when empty
  [[nodiscard]] std::uint64_t max() const;  // 0 when empty
  [[nodiscard]] double mean() const;        // 0 when empty
  // The smallest recorded value (to 3 digits) that at least `fraction` of all values do not exceed;
  // fraction in [0, 1]. 0 when empty.
  [[nodiscard]] std::uint64_t quantile(double fraction) const;
  // How many values do not exceed `value`, to 3 digits: those of its own cell count as well.
  [[nodiscard]] std::uint64_t count_up_to(std::uint64_t value) const;
  // quantile(), or nothing below the sample floor of that fraction (floor_of).
  [[nodiscard]] std::optional<std::uint64_t> honest_quantile(double fraction) const;

  // HdrHistogram's V2 compressed encoding as its logs hold it (base64 of zlib; histogram_v2.h):
  // counts are exact, values above 2^63 - 1 become that.
  [[nodiscard]] std::string encode_v2() const;
  // The cells of the text: min and max are the ends of their cells, the mean is that of the cells'
  // middles. kCorrupt, kVersion (V0, V1), kUnsupported (not 3 digits from 1 on).
  [[nodiscard]] static Result<Histogram> decode_v2(const std::string& text);

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

// Fewest samples at which a quantile may be printed, at 99 % confidence (MLPerf LoadGen's floors):
// p50 11, p90 64, p95 130, p99 662, p99.9 6,636, p99.99 66,381; in between, the same formula.
[[nodiscard]] std::uint64_t floor_of(double fraction);

}  // namespace forebay::telemetry

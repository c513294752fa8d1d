// When sessions begin that were recorded without a start: after seeded exponential gaps.
#pragma once

#include <cstdint>
#include <string>

#include "core/rng.h"
#include "workload/reader.h"

namespace forebay::workload {

class SessionStart {
 public:
  explicit SessionStart(const ReadOptions& options);
  // The first begins at 0.
  [[nodiscard]] std::int64_t next_ns();
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Says what was done; for TraceReader::notes().
  [[nodiscard]] std::string note() const;

 private:
  Rng rng_;
  std::uint64_t seed_;
  std::int64_t gap_ns_mean_;
  std::int64_t now_ns_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace forebay::workload

// Bytes that a device moved, by slices of time.
//
// Slices begin at kFirstSlice long; when there are more than kSlicesMax, two become one, so memory
// is bounded however long a cell lasts. Pure: told every instant. Threads: one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "core/clock.h"

namespace forebay::joint {

class TrafficMeter {
 public:
  struct Slice {
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
  };
  static constexpr Nanos kFirstSlice{100'000'000};
  static constexpr std::size_t kSlicesMax = 600;

  // `since_start` below 0 counts into the first slice.
  void add(Nanos since_start, std::uint64_t read_bytes, std::uint64_t written_bytes);
  [[nodiscard]] Nanos slice_length() const { return length_; }
  [[nodiscard]] const std::vector<Slice>& slices() const { return slices_; }
  [[nodiscard]] Slice total() const;

 private:
  void halve();
  Nanos length_ = kFirstSlice;
  std::vector<Slice> slices_;
};

}  // namespace forebay::joint

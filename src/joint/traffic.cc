#include "joint/traffic.h"

#include <algorithm>

namespace forebay::joint {

void TrafficMeter::add(Nanos since_start, std::uint64_t read_bytes, std::uint64_t written_bytes) {
  const Nanos at = std::max(Nanos(0), since_start);
  while (static_cast<std::size_t>(at / length_) >= kSlicesMax) halve();
  const auto index = static_cast<std::size_t>(at / length_);
  if (index >= slices_.size()) slices_.resize(index + 1);
  slices_[index].read_bytes += read_bytes;
  slices_[index].written_bytes += written_bytes;
}

TrafficMeter::Slice TrafficMeter::total() const {
  Slice sum;
  for (const Slice& slice : slices_) {
    sum.read_bytes += slice.read_bytes;
    sum.written_bytes += slice.written_bytes;
  }
  return sum;
}

void TrafficMeter::halve() {
  length_ *= 2;
  std::vector<Slice> merged((slices_.size() + 1) / 2);
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    merged[i / 2].read_bytes += slices_[i].read_bytes;
    merged[i / 2].written_bytes += slices_[i].written_bytes;
  }
  slices_ = std::move(merged);
}

}  // namespace forebay::joint

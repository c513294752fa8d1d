// For tests of readers: bytes that come a few at a time, as from a pipe.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "workload/byte_source.h"

namespace forebay::workload {

// At most `step` bytes a read.
class DripSource final : public ByteSource {
 public:
  DripSource(std::string bytes, std::size_t step) : bytes_(std::move(bytes)), step_(step) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t got = bytes_.copy(buffer.data(), std::min(step_, buffer.size()), at_);
    at_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t step_;
  std::size_t at_ = 0;
};

}  // namespace forebay::workload

// A place in scattered memory that moves on as bytes are put there or taken.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace forebay::nvme::initiator {

class ScatterCursor {
 public:
  ScatterCursor() = default;
  explicit ScatterCursor(std::span<const iovec> pieces) : pieces_(pieces) {}

  // The next `most` bytes, or fewer where the piece ends; empty at the end of all.
  [[nodiscard]] std::span<std::byte> take(std::size_t most) {
    while (!pieces_.empty() && at_ == pieces_.front().iov_len) {
      pieces_ = pieces_.subspan(1);
      at_ = 0;
    }
    if (pieces_.empty()) return {};
    const std::size_t size = std::min(most, pieces_.front().iov_len - at_);
    auto* begin = static_cast<std::byte*>(pieces_.front().iov_base) + at_;
    at_ += size;
    return {begin, size};
  }

 private:
  std::span<const iovec> pieces_;
  std::size_t at_ = 0;  // within the first piece
};

}  // namespace forebay::nvme::initiator

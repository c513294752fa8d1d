#include "nvme/send_batch.h"

#include <cstring>

#include "core/check.h"

namespace forebay::nvme {

void SendBatch::clear() {
  pieces_.clear();
  first_piece_ = 0;
  staged_bytes_ = 0;
}

// Neighbours in the staging memory become one piece.
void SendBatch::stage(std::span<const std::byte> bytes) {
  FOREBAY_CHECK_LE(bytes.size(), staging_left());
  std::byte* place = staging_.get() + staged_bytes_;
  std::memcpy(place, bytes.data(), bytes.size());
  staged_bytes_ += bytes.size();
  if (!pieces_.empty()) {
    iovec& last = pieces_.back();
    if (static_cast<std::byte*>(last.iov_base) + last.iov_len == place) {
      last.iov_len += bytes.size();
      return;
    }
  }
  pieces_.push_back({place, bytes.size()});
}

bool SendBatch::advance(std::size_t size) {
  while (first_piece_ < pieces_.size() && size >= pieces_[first_piece_].iov_len) {
    size -= pieces_[first_piece_++].iov_len;
  }
  if (first_piece_ == pieces_.size()) return true;
  iovec& piece = pieces_[first_piece_];
  piece = {static_cast<std::byte*>(piece.iov_base) + size, piece.iov_len - size};
  return false;
}

}  // namespace forebay::nvme

// One send of a connection: headers and digests in memory of its own, data where it lies.
//
// Fill it between clear() and the first advance(); then send rest() until advance() says it is
// over. Memory: the staging buffer and one iovec a piece. Ownership: data must stay until then.
// Threads: one owner. Pure.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace forebay::nvme {

class SendBatch {
 public:
  explicit SendBatch(std::size_t staging_bytes)
      : staging_bytes_(staging_bytes),
        staging_(std::make_unique_for_overwrite<std::byte[]>(staging_bytes)) {}

  void clear();
  // Copies bytes behind those before: no more than staging_left().
  void stage(std::span<const std::byte> bytes);
  void append(const iovec& piece) { pieces_.push_back(piece); }
  [[nodiscard]] std::size_t staging_left() const { return staging_bytes_ - staged_bytes_; }
  [[nodiscard]] std::size_t piece_count() const { return pieces_.size(); }

  // What is still to be sent.
  [[nodiscard]] std::span<const iovec> rest() const {
    return std::span(pieces_).subspan(first_piece_);
  }
  // `size` bytes of the rest were sent; whether that was all.
  bool advance(std::size_t size);

 private:
  std::size_t staging_bytes_;
  std::unique_ptr<std::byte[]> staging_;
  std::size_t staged_bytes_ = 0;
  std::vector<iovec> pieces_;
  std::size_t first_piece_ = 0;
};

}  // namespace forebay::nvme

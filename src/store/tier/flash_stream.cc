#include "store/tier/flash_stream.h"

#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::store {
namespace {

// A device splits what it cannot take at once, but long vectors cost it more than short requests.
constexpr std::size_t kIovecsPerTransfer = 512;

}  // namespace

StreamBuilder::StreamBuilder(FlashCore& core, const block::Request& prototype,
                             std::vector<Transfer*>& out)
    : core_(core), prototype_(prototype), out_(out) {}

void StreamBuilder::begin(std::uint64_t offset_bytes) {
  end();
  position_ = offset_bytes;
}

void StreamBuilder::end() {
  if (current_ != nullptr) cut();
}

void StreamBuilder::cut() {
  FOREBAY_CHECK_EQ(current_->request.length_bytes % core_.align_bytes(), std::uint64_t{0});
  out_.push_back(std::exchange(current_, nullptr));
}

std::size_t StreamBuilder::room() {
  const std::uint64_t align = core_.align_bytes();
  if (current_ != nullptr) {
    const bool aligned = current_->request.length_bytes % align == 0;
    const bool full = current_->request.length_bytes >= core_.transfer_bytes();
    // One more entry may be needed to finish a bounced stretch: cut well before the end.
    const bool crowded = current_->iovecs.size() >= kIovecsPerTransfer;
    if (aligned && (full || crowded)) cut();
  }
  if (current_ == nullptr) {
    current_ = core_.transfers.take();
    current_->request = prototype_;
    current_->request.offset_bytes = position_;
    current_->first_tag = tag_;
  }
  current_->last_tag = tag_;
  return core_.transfer_bytes() - current_->request.length_bytes;
}

void StreamBuilder::add_aligned(std::byte* memory, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t size = std::min(bytes, room());
    iovec* last = current_->iovecs.empty() ? nullptr : &current_->iovecs.back();
    if (last != nullptr && last->iov_base != nullptr &&
        static_cast<std::byte*>(last->iov_base) + last->iov_len == memory) {
      last->iov_len += size;
    } else {
      current_->iovecs.push_back({memory, size});
    }
    current_->request.length_bytes += size;
    position_ += size;
    memory += size;
    bytes -= size;
  }
}

void StreamBuilder::add_copied(std::byte* memory, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t size = std::min(bytes, room());
    Transfer& at = *current_;
    const std::size_t offset = at.bounce_bytes;
    if (at.iovecs.empty() || at.iovecs.back().iov_base != nullptr) {
      at.bounced.push_back({at.iovecs.size(), offset});
      at.iovecs.push_back({nullptr, 0});
    }
    at.iovecs.back().iov_len += size;
    at.copies.push_back({offset, memory, size});
    at.bounce_bytes += size;
    at.request.length_bytes += size;
    position_ += size;
    if (memory != nullptr) memory += size;
    bytes -= size;
  }
}

void StreamBuilder::add_piece(std::byte* memory, std::size_t bytes) {
  const std::size_t align = core_.align_bytes();
  while (bytes > 0) {
    const std::size_t past = position_ % align;
    if (past == 0 && is_aligned(memory, align) && bytes >= align) {
      const std::size_t direct = round_down(bytes, align);
      add_aligned(memory, direct);
      memory += direct;
      bytes -= direct;
      continue;
    }
    // Memory and device drift apart or together by whole pieces only: a piece whose phase differs
    // from the device's never becomes aligned.
    const bool in_phase = reinterpret_cast<std::uintptr_t>(memory) % align == past;
    const std::size_t size = in_phase ? std::min(bytes, align - past) : bytes;
    add_copied(memory, size);
    memory += size;
    bytes -= size;
  }
}

void StreamBuilder::add_data(std::span<const iovec> pieces, std::size_t data_bytes) {
  const std::uint64_t start = position_;
  for (const iovec& piece : pieces) {
    const std::size_t size = std::min<std::size_t>(piece.iov_len, data_bytes - (position_ - start));
    add_piece(static_cast<std::byte*>(piece.iov_base), size);
  }
  FOREBAY_CHECK_EQ(position_ - start, std::uint64_t{data_bytes});
  add_padding(round_up(data_bytes, core_.layout().page_bytes) - data_bytes);
}

void StreamBuilder::add_padding(std::size_t bytes) {
  const std::size_t past = position_ % core_.align_bytes();
  if (past != 0) {
    const std::size_t size = core_.align_bytes() - past;
    add_copied(nullptr, size);
    bytes -= size;
  }
  if (bytes > 0) add_aligned(core_.padding(prototype_.kind), bytes);
}

}  // namespace forebay::store

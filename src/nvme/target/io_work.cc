#include "nvme/target/io_work.h"

#include <algorithm>
#include <cstring>

#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "nvme/target/exchange.h"

namespace forebay::nvme::target {
namespace {

constexpr std::size_t kZeroBytes = 128 * 1024;

// Write Zeroes sends these as often as it takes; they are never written to.
std::span<std::byte> zeroes() {
  static const AlignedMemory memory = [] {
    AlignedMemory made = allocate_aligned(kZeroBytes);
    std::memset(made.get(), 0, kZeroBytes);
    return made;
  }();
  return {memory.get(), kZeroBytes};
}

block::RequestKind request_kind(IoKind kind) {
  const bool writes = kind == IoKind::kWrite || kind == IoKind::kWriteZeroes;
  return writes ? block::RequestKind::kWrite : block::RequestKind::kRead;
}

}  // namespace

CommandStatus io_status(const Error& error, IoKind kind) {
  switch (error.code) {
    case Errc::kNoSpace:
      return refuse(StatusCode::kCapacityExceeded);
    case Errc::kReadOnly:
    case Errc::kDenied:
      return refuse(StatusCode::kNamespaceWriteProtected);
    case Errc::kInvalid:
      return refuse(StatusCode::kInvalidField);
    case Errc::kBusy:
    case Errc::kTimedOut:
      return retry_later(StatusCode::kNamespaceNotReady);
    case Errc::kCancelled:
      return retry_later(StatusCode::kAbortRequested);
    case Errc::kNotFound:
    case Errc::kExists:
    case Errc::kCorrupt:
    case Errc::kIo:
    case Errc::kGone:
    case Errc::kUnsupported:
    case Errc::kVersion:
      break;
  }
  const bool reads = kind == IoKind::kRead || kind == IoKind::kCompare;
  return refuse(reads ? StatusCode::kUnrecoveredRead : StatusCode::kWriteFault);
}

void IoWork::start(Exchange& exchange) {
  exchange_ = &exchange;
  moved_bytes_ = 0;
  if (plan.kind == IoKind::kFlush) {
    flush();
  } else if (plan.kind == IoKind::kDeallocate) {
    state_ = IoState::kMoving;
    ranges_fit() ? next_range() : finish(refuse(StatusCode::kLbaOutOfRange));
  } else {
    state_ = IoState::kMoving;
    next_piece();
  }
}

std::span<std::byte> IoWork::memory() const {
  switch (plan.kind) {
    case IoKind::kRead:
      return exchange_->out;
    case IoKind::kWrite:
      return exchange_->in;
    case IoKind::kCompare:
      return exchange_->scratch;
    case IoKind::kWriteZeroes:
      return zeroes();
    case IoKind::kFlush:
    case IoKind::kDeallocate:
      break;
  }
  return {};
}

void IoWork::next_piece() {
  if (moved_bytes_ == plan.length_bytes) {
    const CommandStatus status = after_last();
    status.ok() && plan.durable ? flush() : finish(status);
    return;
  }
  const block::Geometry& geometry = device->geometry();
  const bool zero = plan.kind == IoKind::kWriteZeroes;
  const std::uint64_t most =
      round_down(std::min<std::uint64_t>(geometry.transfer_bytes_max, zero ? kZeroBytes : ~0ULL),
                 geometry.align_bytes);
  const std::uint64_t size = std::min(most, plan.length_bytes - moved_bytes_);
  piece_ = {memory().data() + (zero ? 0 : moved_bytes_), size};
  submit(request_kind(plan.kind), plan.offset_bytes + moved_bytes_, size);
}

// Of a compare: whether the blocks are what the host thinks.
CommandStatus IoWork::after_last() const {
  if (plan.kind != IoKind::kCompare) return kDone;
  const bool equal = std::ranges::equal(exchange_->scratch, exchange_->in);
  return equal ? kDone : refuse(StatusCode::kCompareFailure);
}

// All or nothing: a command with one bad range touches none.
bool IoWork::ranges_fit() const {
  const std::uint64_t blocks = device->geometry().size_bytes / device->geometry().align_bytes;
  for (std::uint64_t at = 0; at < plan.length_bytes; at += sizeof(DeallocateRange)) {
    const auto range = load_as<DeallocateRange>(exchange_->in.subspan(at));
    if (range.first_block > blocks || range.block_count > blocks - range.first_block) return false;
  }
  return true;
}

void IoWork::next_range() {
  while (moved_bytes_ < plan.length_bytes) {
    const auto range = load_as<DeallocateRange>(exchange_->in.subspan(moved_bytes_));
    if (range.block_count != 0) {
      const std::uint64_t block = device->geometry().align_bytes;
      submit(block::RequestKind::kDiscard, range.first_block * block, range.block_count * block);
      return;
    }
    moved_bytes_ += sizeof(DeallocateRange);
  }
  finish(kDone);
}

void IoWork::submit(block::RequestKind kind, std::uint64_t offset, std::uint64_t length) {
  request_ = block::Request{};
  request_.kind = kind;
  request_.offset_bytes = offset;
  request_.length_bytes = length;
  const bool transfer = kind == block::RequestKind::kRead || kind == block::RequestKind::kWrite;
  if (transfer) request_.buffers = {&piece_, 1};
  request_.context = this;
  request_.on_done = [](block::Request& done) {
    static_cast<IoWork*>(done.context)->on_request_done();
  };
  device->submit(request_);
}

void IoWork::on_request_done() {
  if (!request_.done_bytes) {
    const Error& error = request_.done_bytes.error();
    // Deallocation is advice: a device that cannot do it loses nothing.
    const bool advice = plan.kind == IoKind::kDeallocate && error.code == Errc::kUnsupported;
    finish(advice ? kDone : io_status(error, plan.kind));
  } else if (state_ == IoState::kFlushing) {
    finish(kDone);
  } else if (plan.kind == IoKind::kDeallocate) {
    moved_bytes_ += sizeof(DeallocateRange);
    next_range();
  } else {
    moved_bytes_ += request_.length_bytes;
    next_piece();
  }
}

void IoWork::flush() {
  state_ = IoState::kFlushing;
  submit(block::RequestKind::kFlush, 0, 0);
}

void IoWork::finish(CommandStatus status) {
  state_ = IoState::kIdle;
  exchange_->finish(status);
}

}  // namespace forebay::nvme::target

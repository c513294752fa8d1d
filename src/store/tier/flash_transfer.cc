#include "store/tier/flash_transfer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kStarvationGrants = 32;

bool is_background(block::OpClass op_class) { return op_class != block::OpClass::kDemand; }

}  // namespace

void Transfer::copy_in() {
  for (const Copy& copy : copies) {
    std::byte* at = bounce.data() + copy.bounce_offset;
    if (copy.memory != nullptr) {
      std::memcpy(at, copy.memory, copy.bytes);
    } else {
      std::memset(at, 0, copy.bytes);
    }
  }
}

void Transfer::copy_out() {
  for (const Copy& copy : copies) {
    if (copy.memory == nullptr) continue;
    std::memcpy(copy.memory, bounce.data() + copy.bounce_offset, copy.bytes);
  }
}

void Transfer::clear() {
  request = {};
  iovecs.clear();
  copies.clear();
  bounced.clear();
  bounce_bytes = 0;
  bounce.reset();
  submitted = false;
  on_done = nullptr;
  context = nullptr;
}

Transfer* TransferPool::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Transfer>());
    return all_.back().get();
  }
  Transfer* transfer = free_.back();
  free_.pop_back();
  return transfer;
}

void TransferPool::give_back(Transfer* transfer) {
  transfer->clear();
  free_.push_back(transfer);
}

TransferQueue::TransferQueue(block::Device& device, BufferPool& buffers,
                             std::uint64_t in_flight_bytes_max, Hooks hooks)
    : device_(device),
      buffers_(buffers),
      in_flight_bytes_max_(in_flight_bytes_max),
      hooks_(std::move(hooks)) {}

void TransferQueue::submit(Transfer& transfer) {
  transfer.queue = this;
  if (transfer.request.kind == block::RequestKind::kFlush) {
    start(transfer);  // it makes durable what is written, not what still waits
    return;
  }
  ClassQueue& queue = classes_[static_cast<std::size_t>(transfer.request.op_class)];
  const std::uint32_t lane = transfer.request.tenant % kLanes;
  queue.lanes[lane].push_back(transfer);
  queue.waiting |= std::uint64_t{1} << lane;
  pump();
}

bool TransferQueue::remove(Transfer& transfer) {
  if (transfer.submitted) return false;
  ClassQueue& queue = classes_[static_cast<std::size_t>(transfer.request.op_class)];
  const std::uint32_t lane = transfer.request.tenant % kLanes;
  const bool removed = queue.lanes[lane].remove(transfer);
  if (queue.lanes[lane].empty()) queue.waiting &= ~(std::uint64_t{1} << lane);
  return removed;
}

bool TransferQueue::may_start(const Transfer& transfer, std::size_t op_class) const {
  const std::uint64_t bytes = transfer.request.length_bytes;
  if (in_flight_bytes_ == 0) return true;
  if (in_flight_bytes_ + bytes > in_flight_bytes_max_) return false;
  return !is_background(static_cast<block::OpClass>(op_class)) || background_bytes_ == 0 ||
         background_bytes_ + bytes <= in_flight_bytes_max_ / 2;
}

TransferQueue::Lane* TransferQueue::next_lane_of(std::size_t op_class) {
  ClassQueue& queue = classes_[op_class];
  if (queue.waiting == 0) return nullptr;
  // The first waiting lane after the last one served.
  const auto turned = std::rotr(queue.waiting, static_cast<int>((queue.last + 1) % kLanes));
  const auto steps = static_cast<std::uint32_t>(std::countr_zero(turned));
  const std::uint32_t lane = (queue.last + 1 + steps) % kLanes;
  if (!may_start(*queue.lanes[lane].front(), op_class)) return nullptr;
  queue.last = lane;
  return &queue.lanes[lane];
}

TransferQueue::Lane* TransferQueue::next_lane() {
  if (grants_ % kStarvationGrants == kStarvationGrants - 1) {
    for (std::size_t i = classes_.size(); i-- > 0;) {
      if (classes_[i].waiting == 0) continue;
      if (Lane* lane = next_lane_of(i)) return lane;
      break;
    }
  }
  // A smaller request of a lower class must not slip past a higher one that waits for room.
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].waiting != 0) return next_lane_of(i);
  }
  return nullptr;
}

void TransferQueue::pump() {
  if (pumping_) return;  // a device that completes at once comes back here
  pumping_ = true;
  while (Lane* lane = next_lane()) {
    Transfer& transfer = lane->pop_front();
    if (lane->empty()) {
      ClassQueue& queue = classes_[static_cast<std::size_t>(transfer.request.op_class)];
      queue.waiting &= ~(std::uint64_t{1} << (transfer.request.tenant % kLanes));
    }
    ++grants_;
    start(transfer);
  }
  pumping_ = false;
}

void TransferQueue::start(Transfer& transfer) {
  block::Request& request = transfer.request;
  transfer.submitted = true;
  if (transfer.bounce_bytes > 0) {
    transfer.bounce = buffers_.take(transfer.bounce_bytes);
    for (const Transfer::Bounced& bounced : transfer.bounced) {
      transfer.iovecs[bounced.iovec_index].iov_base =
          transfer.bounce.data() + bounced.bounce_offset;
    }
    if (request.kind == block::RequestKind::kWrite) transfer.copy_in();
  }
  request.buffers = transfer.iovecs;
  request.context = &transfer;
  in_flight_bytes_ += request.length_bytes;
  in_flight_bytes_peak_ = std::max(in_flight_bytes_peak_, in_flight_bytes_);
  if (is_background(request.op_class)) background_bytes_ += request.length_bytes;
  transfer.keep = hooks_.keep();
  request.on_done = [](block::Request& done) {
    auto* owner = static_cast<Transfer*>(done.context);
    owner->queue->finish(*owner);
  };
  if (const Status status = hooks_.before_submit(request); !status) {
    request.done_bytes = std::unexpected(status.error());
    finish(transfer);
    return;
  }
  device_.submit(request);
}

void TransferQueue::finish(Transfer& transfer) {
  const block::Request& request = transfer.request;
  in_flight_bytes_ -= request.length_bytes;
  if (is_background(request.op_class)) background_bytes_ -= request.length_bytes;
  hooks_.on_result(request);
  // The device gets its next work before this one's checks take the core.
  const std::shared_ptr<void> keep = std::move(transfer.keep);
  pump();
  transfer.on_done(transfer);
}

}  // namespace forebay::store

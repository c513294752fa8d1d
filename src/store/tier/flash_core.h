// What all parts of one flash tier share: device, layout, queues, segments, health, counters.
//
// Ownership: held by the tier and by every transfer in flight, so that a tier may be destroyed
// while a stuck device still owes completions. After abandon() nothing calls the owner or the
// device any more. Threads: one core.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "block/device.h"
#include "store/tier/flash.h"
#include "store/tier/flash_buffer.h"
#include "store/tier/flash_health.h"
#include "store/tier/flash_layout.h"
#include "store/tier/flash_segments.h"
#include "store/tier/flash_transfer.h"

namespace forebay::store {

struct FlashCounters {
  std::uint64_t host_written_bytes = 0;
  std::uint64_t device_written_bytes = 0;
  std::uint64_t moved_bytes = 0;
  std::uint64_t dropped_blocks = 0;
  std::uint64_t corrupt_records = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t reclaimed_segments = 0;
  std::uint64_t recovered_blocks = 0;
  std::uint64_t device_written_before = 0;  // in earlier lives of the store
  std::uint64_t host_written_before = 0;
  Nanos recovery_time{0};
};

class FlashCore : public std::enable_shared_from_this<FlashCore> {
  // First, because the parts below are made from them.
  block::Device& device_;
  FlashOwner& owner_;
  FlashOptions options_;
  FlashLayout layout_;
  Uuid uuid_;
  std::uint32_t transfer_bytes_;

 public:
  FlashCore(block::Device& device, FlashOwner& owner, FlashOptions options, FlashLayout layout,
            Uuid uuid);

  [[nodiscard]] io::Loop& loop() { return device_.loop(); }
  [[nodiscard]] Nanos now() { return device_.loop().now(); }
  [[nodiscard]] block::Device& device() { return device_; }
  [[nodiscard]] FlashOwner& owner() { return owner_; }
  [[nodiscard]] const FlashOptions& options() const { return options_; }
  [[nodiscard]] const FlashLayout& layout() const { return layout_; }
  [[nodiscard]] const Uuid& uuid() const { return uuid_; }
  [[nodiscard]] std::uint32_t align_bytes() const { return device_.geometry().align_bytes; }
  // The size at which runs are cut into requests.
  [[nodiscard]] std::uint32_t transfer_bytes() const { return transfer_bytes_; }

  // Reads go by their own queue and depth, everything else by the other.
  [[nodiscard]] TransferQueue& queue(block::RequestKind kind) {
    return kind == block::RequestKind::kRead ? reads_ : writes_;
  }
  // A page of zeroes for the gaps of a write, one to throw away for those of a read.
  [[nodiscard]] std::byte* padding(block::RequestKind kind) {
    return kind == block::RequestKind::kRead ? junk_.data() : zeroes_.data();
  }
  // The tier is destroyed: completions only give memory back.
  void abandon() { abandoned_ = true; }
  [[nodiscard]] bool abandoned() const { return abandoned_; }
  [[nodiscard]] bool killed() const { return killed_; }
  // A failed flush may have lost any write that was not flushed before it, and no later flush
  // brings it back: who wrote before the last of them must not count on it.
  [[nodiscard]] std::uint64_t failed_flushes() const { return failed_flushes_; }
  // Refreshes the wear verdict first.
  [[nodiscard]] Status may_write();

  // Makes a part of the tier that must live as long as its transfers do.
  template <class Part, class... Args>
  Part* add_part(Args&&... args) {
    auto part = std::make_shared<Part>(*this, std::forward<Args>(args)...);
    parts_.push_back(part);
    return part.get();
  }

  BufferPool buffers;
  TransferPool transfers;
  SegmentTable segments;
  FlashHealth health;
  WearMeter wear;
  FlashCounters counters;
  // Damage that open() found and left, since the device is open for reading only.
  std::vector<FlashFinding> unhealed;

 private:
  [[nodiscard]] Status before_submit(const block::Request& request);
  void on_result(const block::Request& request);
  [[nodiscard]] TransferQueue::Hooks hooks();

  IoBuffer zeroes_;
  IoBuffer junk_;
  TransferQueue reads_;
  TransferQueue writes_;
  std::uint64_t failed_flushes_ = 0;
  bool abandoned_ = false;
  bool killed_ = false;
  std::vector<std::shared_ptr<void>> parts_;  // go before everything that they use
};

}  // namespace forebay::store

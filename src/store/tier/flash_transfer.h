// One request of the flash tier on its device, pooled, and the queue that keeps the device busy.
//
// A TransferQueue submits while fewer than in_flight_bytes_max are in flight and goes on with every
// completion. Classes go in strict order, tenants of a class take turns, and every 32nd grant goes
// to the lowest class that waits, so that none starves. Work that nobody waits for may use half of
// the depth only: demand never stands behind a full queue of it.
//
// Ownership: whoever takes a Transfer gives it back after on_done; the memory it names must stay
// until then. Threads: one core. Errors arrive in request.done_bytes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "block/device.h"
#include "core/intrusive_queue.h"
#include "store/tier/flash_buffer.h"

namespace forebay::store {

class TransferQueue;

struct Transfer {
  // Bytes that cross between the bounce buffer and memory whose alignment the device refuses.
  struct Copy {
    std::size_t bounce_offset;
    std::byte* memory;  // null: padding
    std::size_t bytes;
  };
  struct Bounced {  // an iovec whose base is bounce + offset
    std::size_t iovec_index;
    std::size_t bounce_offset;
  };
  block::Request request;
  std::vector<iovec> iovecs;
  std::vector<Copy> copies;
  std::vector<Bounced> bounced;
  std::size_t bounce_bytes = 0;
  IoBuffer bounce;
  std::uint32_t first_tag = 0;  // the builder's: which records this transfer touches
  std::uint32_t last_tag = 0;
  std::uint32_t slot = 0;  // the job's
  bool submitted = false;
  TransferQueue* queue = nullptr;  // set by submit()
  Transfer* next = nullptr;
  void (*on_done)(Transfer&) = nullptr;
  void* context = nullptr;
  std::shared_ptr<void> keep;  // what must live until the device lets go

  // Fills the bounce buffer before a write, empties it after a read.
  void copy_in();
  void copy_out();
  void clear();
};

class TransferPool {
 public:
  [[nodiscard]] Transfer* take();
  void give_back(Transfer* transfer);

 private:
  std::vector<std::unique_ptr<Transfer>> all_;
  std::vector<Transfer*> free_;
};

class TransferQueue {
 public:
  // `on_result` sees every outcome before its owner does. `before_submit` may refuse (kill points).
  struct Hooks {
    std::function<Status(const block::Request&)> before_submit;
    std::function<void(const block::Request&)> on_result;
    std::function<std::shared_ptr<void>()> keep;
  };
  TransferQueue(block::Device& device, BufferPool& buffers, std::uint64_t in_flight_bytes_max,
                Hooks hooks);

  void submit(Transfer& transfer);
  // Takes it out if the device has not got it yet: then on_done will not run.
  [[nodiscard]] bool remove(Transfer& transfer);
  // Best effort; on_done still runs.
  void cancel(Transfer& transfer) { device_.cancel(transfer.request); }

  [[nodiscard]] std::uint64_t in_flight_bytes() const { return in_flight_bytes_; }
  [[nodiscard]] std::uint64_t in_flight_bytes_peak() const { return in_flight_bytes_peak_; }

 private:
  static constexpr std::uint32_t kLanes = 64;
  using Lane = IntrusiveQueue<Transfer, &Transfer::next>;
  struct ClassQueue {
    std::array<Lane, kLanes> lanes;  // by tenant
    std::uint64_t waiting = 0;       // a bit for each lane that holds something
    std::uint32_t last = 0;
  };

  void pump();
  [[nodiscard]] Lane* next_lane();
  [[nodiscard]] Lane* next_lane_of(std::size_t op_class);
  [[nodiscard]] bool may_start(const Transfer& transfer, std::size_t op_class) const;
  void start(Transfer& transfer);
  void finish(Transfer& transfer);

  block::Device& device_;
  BufferPool& buffers_;
  std::uint64_t in_flight_bytes_max_;
  Hooks hooks_;
  std::array<ClassQueue, qos::kOpClassCount> classes_;
  std::uint64_t in_flight_bytes_ = 0;
  std::uint64_t in_flight_bytes_peak_ = 0;
  std::uint64_t background_bytes_ = 0;
  std::uint64_t grants_ = 0;
  bool pumping_ = false;
};

}  // namespace forebay::store

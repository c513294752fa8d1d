// The one seam for storage: asynchronous bytes at offsets on something that keeps them.
//
// A local file, a raw disk, a stripe over several, a throttled, faulty or simulated one: all the
// same to the store. A device is a decorator or a leaf; submit() never blocks and never fails on
// the spot: every outcome, refusal included, arrives through on_done,
// which may run inside submit().
//
// Ownership: the caller owns the Request and the buffers until on_done ran. To abandon a request at
// a deadline, keep both alive elsewhere (store/lent_buffer.h) and call cancel(). Threads: a device
// belongs to the core of its Loop. Errors: kInvalid (alignment, range), kIo, kNoSpace, kReadOnly,
// kGone, kTimedOut, kCancelled, kBusy.
#pragma once

#include <sys/uio.h>

#include <coroutine>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/clock.h"
#include "core/error.h"
#include "core/task.h"
#include "io/loop.h"
#include "qos/op_class.h"

namespace forebay::block {

using qos::OpClass;

enum class RequestKind : std::uint8_t { kRead, kWrite, kFlush, kDiscard };

struct Request {
  RequestKind kind = RequestKind::kRead;
  OpClass op_class = OpClass::kDemand;
  std::uint32_t tenant = 0;  // who pays, for the schedulers
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;  // the sum of `buffers`; for kDiscard the range itself
  std::span<const iovec> buffers;  // scattered; every base and length a multiple of align_bytes
  Nanos deadline = kForever;       // a queue may drop it with kTimedOut after this, not before
  std::uint64_t op_id = 0;         // joins this to the request upstairs, in logs

  Result<std::size_t> done_bytes{std::size_t{0}};
  void (*on_done)(Request&) = nullptr;  // exactly once, on the owning core
  void* context = nullptr;              // the caller's

  Request* next = nullptr;      // owned by the device that queues it
  void* device_word = nullptr;  // owned by the device in flight
};

struct Geometry {
  std::uint64_t size_bytes = 0;
  std::uint32_t align_bytes = 4096;      // of offsets, lengths and buffer addresses
  std::uint32_t transfer_bytes_max = 0;  // largest request; bigger ones are refused with kInvalid
  bool direct = false;                   // bypasses the page cache
  bool read_only = false;                // opened so: writes and discards end with kReadOnly
};

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const Geometry& geometry() const = 0;
  // "file:/data/kv", "stripe(4)": for messages and reports.
  [[nodiscard]] virtual std::string describe() const = 0;
  virtual void submit(Request& request) = 0;
  // Best effort; on_done still runs exactly once.
  virtual void cancel(Request& request) = 0;
  [[nodiscard]] virtual io::Loop& loop() = 0;
};

struct IoOptions {
  OpClass op_class = OpClass::kDemand;
  std::uint32_t tenant = 0;
  Nanos deadline = kForever;
  std::uint64_t op_id = 0;
};

// co_await block::read(device, offset, buffers, options): Result<size_t>. The request lives in the
// awaiting frame, which therefore must not be destroyed while it is in flight.
class Await {
 public:
  Await(Device& device, Request request) : device_(device), request_(request) {}
  [[nodiscard]] bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> self) {
    waiter_ = self;
    request_.context = this;
    request_.on_done = [](Request& done) {
      auto* await = static_cast<Await*>(done.context);
      await->done_ = true;
      if (await->suspended_) await->waiter_.resume();
    };
    device_.submit(request_);
    suspended_ = !done_;
    return suspended_;
  }
  [[nodiscard]] Result<std::size_t> await_resume() const { return request_.done_bytes; }

 private:
  Device& device_;
  Request request_;
  std::coroutine_handle<> waiter_;
  bool done_ = false;
  bool suspended_ = false;
};

[[nodiscard]] Await read(Device& device, std::uint64_t offset_bytes, std::span<const iovec> buffers,
                         IoOptions options = {});
// The same into one buffer, for who is no coroutine: loop.run(read_piece(...)).
[[nodiscard]] Task<Result<std::size_t>> read_piece(Device* device, std::uint64_t offset_bytes,
                                                   iovec piece);
[[nodiscard]] Await write(Device& device, std::uint64_t offset_bytes,
                          std::span<const iovec> buffers, IoOptions options = {});
[[nodiscard]] Await flush(Device& device, IoOptions options = {});
[[nodiscard]] Await discard(Device& device, std::uint64_t offset_bytes, std::uint64_t length_bytes,
                            IoOptions options = {});

[[nodiscard]] std::uint64_t total_bytes(std::span<const iovec> buffers);
// The io operation that a request of this kind becomes.
[[nodiscard]] io::OpKind op_kind(RequestKind kind);

// What every device refuses alike: misalignment, a range beyond the end, an empty or oversized
// transfer, a length that is not the sum of its pieces.
[[nodiscard]] Status check_request(const Request& request, const Geometry& geometry);

// A device by the text a user writes: "/data/kv.img", "/dev/nvme0n1", "stripe:/a,/b?unit=1M".
// `size_bytes`: a file that is absent is made, and preallocated, at that size; 0 keeps what is
// there. Diagnoses in the error; kExists when another process has it open for writing, or for
// reading while `write` is asked for.
struct OpenDevice {
  std::uint64_t size_bytes = 0;
  bool write = true;
  bool create = false;
};
[[nodiscard]] Result<std::unique_ptr<Device>> open_device(io::Loop& loop, const std::string& url,
                                                          const OpenDevice& options);

}  // namespace forebay::block

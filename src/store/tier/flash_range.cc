#include "store/tier/flash_range.h"

#include <memory>
#include <utility>
#include <vector>

#include "store/tier/flash_stream.h"
#include "store/tier/flash_wait.h"

namespace forebay::store {
namespace {

// Lives until the coroutine left and the device let go of every transfer.
class RangeJob {
 public:
  RangeJob(FlashCore& core, IoBuffer buffer) : core_(core), buffer_(std::move(buffer)) {}

  void start(block::RequestKind kind, std::uint64_t offset_bytes, const RangeOptions& options) {
    block::Request prototype;
    prototype.kind = kind;
    prototype.op_class = options.op_class;
    prototype.deadline = options.deadline;
    if (kind == block::RequestKind::kFlush) {
      transfers_.push_back(core_.transfers.take());
      transfers_.back()->request = prototype;
    } else {
      StreamBuilder builder(core_, prototype, transfers_);
      builder.begin(offset_bytes);
      builder.add_aligned(buffer_.data(), buffer_.size());
      builder.end();
    }
    outstanding_ = transfers_.size();
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      Transfer& transfer = *transfers_[i];
      transfer.slot = static_cast<std::uint32_t>(i);
      transfer.context = this;
      transfer.on_done = [](Transfer& done) { static_cast<RangeJob*>(done.context)->finish(done); };
      core_.queue(kind).submit(transfer);
    }
  }

  [[nodiscard]] bool done() const { return outstanding_ == 0; }
  [[nodiscard]] Result<IoBuffer> take() {
    if (!status_) return std::unexpected(status_.error());
    return std::move(buffer_);
  }
  void wait_with(Waiter* waiter) { waiter_ = waiter; }

  // The coroutine leaves: what the device has not got yet is taken back.
  void detach() {
    waiter_ = nullptr;
    for (Transfer*& transfer : transfers_) {
      if (transfer == nullptr) continue;
      if (core_.queue(transfer->request.kind).remove(*transfer)) {
        core_.transfers.give_back(std::exchange(transfer, nullptr));
        --outstanding_;
      }
    }
    detached_ = true;
    // Cancelling may complete the last transfer: hold the job for the length of the loop.
    ++outstanding_;
    for (Transfer*& transfer : transfers_) {
      if (transfer != nullptr && !core_.abandoned()) {
        core_.queue(transfer->request.kind).cancel(*transfer);
      }
    }
    if (--outstanding_ == 0) delete this;
  }

 private:
  void finish(Transfer& done) {
    transfers_[done.slot] = nullptr;
    const block::Request& request = done.request;
    if (!request.done_bytes) {
      if (status_) status_ = std::unexpected(request.done_bytes.error());
    } else if (request.kind != block::RequestKind::kFlush &&
               *request.done_bytes != request.length_bytes && status_) {
      status_ = fail(Errc::kIo, "flash: short transfer");
    }
    core_.transfers.give_back(&done);
    if (--outstanding_ > 0) return;
    if (detached_) {
      delete this;  // detach() saw it in flight, or holds a count itself
    } else if (waiter_ != nullptr) {
      waiter_->wake();
    }
  }

  FlashCore& core_;
  IoBuffer buffer_;
  std::vector<Transfer*> transfers_;
  std::size_t outstanding_ = 0;
  Status status_;
  Waiter* waiter_ = nullptr;
  bool detached_ = false;
};

struct Detach {
  void operator()(RangeJob* job) const { job->detach(); }
};
using JobHandle = std::unique_ptr<RangeJob, Detach>;

struct RangeRequest {
  block::RequestKind kind;
  std::uint64_t offset_bytes;
};

Task<Result<IoBuffer>> run_range(FlashCore* core, RangeRequest request, IoBuffer buffer,
                                 RangeOptions options) {
  JobHandle job(new RangeJob(*core, std::move(buffer)));
  job->start(request.kind, request.offset_bytes, options);
  if (!job->done()) {
    Waiter waiter(core->loop(), options.deadline, options.cancel);
    job->wait_with(&waiter);
    const Wake wake = co_await waiter;
    if (wake == Wake::kTimedOut) co_return fail(Errc::kTimedOut, "flash: deadline");
    if (wake == Wake::kCancelled) co_return fail(Errc::kCancelled, "flash: cancelled");
  }
  co_return job->take();
}

}  // namespace

Task<Result<IoBuffer>> read_range(FlashCore* core, std::uint64_t offset_bytes, IoBuffer buffer,
                                  RangeOptions options) {
  return run_range(core, {block::RequestKind::kRead, offset_bytes}, std::move(buffer), options);
}

Task<Result<IoBuffer>> write_range(FlashCore* core, std::uint64_t offset_bytes, IoBuffer buffer,
                                   RangeOptions options) {
  return run_range(core, {block::RequestKind::kWrite, offset_bytes}, std::move(buffer), options);
}

Task<Status> flush_device(FlashCore* core, RangeOptions options) {
  const auto flushed =
      co_await run_range(core, {block::RequestKind::kFlush, 0}, IoBuffer(), options);
  if (!flushed) co_return std::unexpected(flushed.error());
  co_return Status{};
}

}  // namespace forebay::store

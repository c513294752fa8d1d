#include "store/tier/flash_reader.h"

#include <utility>

#include "store/tier/flash_read_job.h"

namespace forebay::store {
namespace {

constexpr std::size_t kIdleJobsMax = 256;

struct Detach {
  void operator()(ReadJob* job) const { job->detach(); }
};

Error gone() { return {Errc::kGone, "flash: the device is gone"}; }

Error why_ended(Wake wake) {
  return wake == Wake::kCancelled ? Error(Errc::kCancelled, "flash read: cancelled")
                                  : Error(Errc::kTimedOut, "flash read: deadline");
}

}  // namespace

FlashReader::FlashReader(FlashCore& core) : core_(core) {}
FlashReader::~FlashReader() = default;

ReadJob* FlashReader::take() {
  if (idle_.empty()) return new ReadJob(*this, core_);
  ReadJob* job = idle_.back().release();
  idle_.pop_back();
  return job;
}

void FlashReader::give_back(ReadJob* job) {
  std::unique_ptr<ReadJob> owned(job);
  if (idle_.size() < kIdleJobsMax) idle_.push_back(std::move(owned));
}

Task<void> FlashReader::read(std::span<FlashRead> items, FlashCall call,
                             std::vector<IoBuffer>* headers) {
  if (core_.health.mode() == FlashMode::kGone) {
    for (FlashRead& item : items) item.status = std::unexpected(gone());
    co_return;
  }
  std::unique_ptr<ReadJob, Detach> job(take());
  Waiter waiter(core_.loop(), call.io.deadline, call.cancel);
  if (waiter.await_ready()) {
    for (FlashRead& item : items) item.status = std::unexpected(why_ended(waiter.await_resume()));
    co_return;
  }
  job->start(items, call);
  if (!job->all_decided()) {
    job->wait_with(&waiter);
    const Wake wake = co_await waiter;
    if (wake != Wake::kSignalled) job->give_up(why_ended(wake));
  }
  if (job->must_wait()) {
    Waiter device_waiter(core_.loop(), kForever, nullptr);
    job->wait_with(&device_waiter);
    (void)co_await device_waiter;
  }
  job->wait_with(nullptr);
  if (headers != nullptr) job->hand_out_headers(*headers);
}

}  // namespace forebay::store

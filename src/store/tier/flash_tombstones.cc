#include "store/tier/flash_tombstones.h"

#include <algorithm>
#include <utility>

namespace forebay::store {

Task<void> TombstoneLog::write(FlashWriter* writer, std::shared_ptr<Batch> batch,
                               bool for_reclaim) {
  batch->piece = {batch->tombstones.data(), batch->tombstones.size() * sizeof(Tombstone)};
  FlashAppend item;
  item.facts.data_bytes = static_cast<std::uint32_t>(batch->piece.iov_len);
  item.data.pieces = {&batch->piece, 1};
  item.data.owner = batch;
  AppendExtras extras;
  extras.kind = RecordKind::kTombstones;
  extras.for_reclaim = for_reclaim;
  extras.tombstones = batch->tombstones;
  FlashCall call;
  co_await writer->append({&item, 1}, call, &extras);
  batch->status = item.status;
  batch->done = true;
}

Task<Status> TombstoneLog::forget(BlockId id, FlashCall call) {
  if (waiting_.size() * kPerRecordMax >= kWaitingMax) {
    co_return fail(Errc::kBusy, "flash forget: too many wait already");
  }
  if (waiting_.empty() || waiting_.back()->tombstones.size() >= kPerRecordMax) {
    waiting_.push_back(std::make_shared<Batch>());
  }
  const std::shared_ptr<Batch> batch = waiting_.back();
  const LogHead::Position position = writer_.head().position();
  batch->tombstones.push_back({id, position.sequence, position.page, 0});
  if (!running_) {
    running_ = true;
    runner_ = run();
    runner_.start();
  }
  if (!batch->done) {
    Waiter waiter(core_.loop(), call.io.deadline, call.cancel);
    batch->waiters.add(waiter);
    const Wake wake = co_await waiter;
    if (wake == Wake::kTimedOut) co_return fail(Errc::kTimedOut, "flash forget: deadline");
    if (wake == Wake::kCancelled) co_return fail(Errc::kCancelled, "flash forget: cancelled");
  }
  co_return batch->status;
}

Task<void> TombstoneLog::run() {
  // The first caller's companions of this turn come along.
  co_await core_.loop().yield();
  while (!waiting_.empty()) {
    const std::shared_ptr<Batch> batch = waiting_.front();
    waiting_.erase(waiting_.begin());
    co_await write(&writer_, batch, false);
    batch->waiters.notify();
  }
  running_ = false;
}

Task<Status> TombstoneLog::carry(std::vector<Tombstone> tombstones) {
  for (std::size_t at = 0; at < tombstones.size(); at += kPerRecordMax) {
    auto batch = std::make_shared<Batch>();
    const std::size_t end = std::min(tombstones.size(), at + kPerRecordMax);
    batch->tombstones.assign(tombstones.begin() + static_cast<std::ptrdiff_t>(at),
                             tombstones.begin() + static_cast<std::ptrdiff_t>(end));
    co_await write(&writer_, batch, true);
    if (!batch->status) co_return batch->status;
  }
  co_return Status{};
}

}  // namespace forebay::store

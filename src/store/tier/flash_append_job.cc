#include "store/tier/flash_append_job.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/crc32c.h"
#include "store/tier/flash_format.h"
#include "store/tier/flash_writer.h"

namespace forebay::store {

void AppendJob::begin(const FlashCall& call, const AppendExtras* extras, AppendClaims* claims) {
  attached_ = true;
  laying_ = true;
  failed_flushes_before_ = core_.failed_flushes();
  extras_ = extras;
  claims_ = claims;
  prototype_ = {};
  prototype_.kind = block::RequestKind::kWrite;
  prototype_.op_class = call.io.op_class;
  prototype_.tenant = call.io.tenant;
  prototype_.deadline = call.io.deadline;
  prototype_.op_id = call.io.op_id;
  builder_.emplace(core_, prototype_, laid_);
  next_page_ = kNoFlashPage;
}

void AppendJob::add(FlashAppend& item, const LogPlace& place) {
  Record& record = records_.emplace_back();
  record.item = &item;
  record.id = item.facts.id;
  record.place = place;
  record.data_bytes = item.facts.data_bytes;
  core_.segments.pin(place.segment);
  ++undecided_;
}

std::size_t AppendJob::lay_next() {
  const auto index = static_cast<std::uint32_t>(laid_records_++);
  Record& record = records_[index];
  if (record.decided) return 0;
  const FlashAppend& item = *record.item;
  RecordPlace place;
  place.uuid = core_.uuid();
  place.sequence = record.place.sequence;
  place.page = record.place.page;
  if (extras_ != nullptr) place.kind = extras_->kind;
  if (item.data_crc) {
    place.data_crc = *item.data_crc;
  } else {
    for (const iovec& piece : item.data.pieces) {
      const auto* bytes = static_cast<const std::byte*>(piece.iov_base);
      place.data_crc = crc32c({bytes, piece.iov_len}, place.data_crc);
    }
  }
  record.header = core_.buffers.page();
  encode_record_header(place, item.facts, record.header.bytes());
  owners_.push_back(item.data.owner);
  if (item.data.owner == nullptr) unowned_ = true;
  if (record.place.page != next_page_) {
    builder_->begin(core_.layout().offset_of(record.place.page));
  }
  next_page_ = record.place.page + core_.layout().record_pages(record.data_bytes);
  builder_->tag(index);
  builder_->add_aligned(record.header.data(), record.header.size());
  builder_->add_data(item.data.pieces, record.data_bytes);
  submit_laid();
  return record.data_bytes;
}

void AppendJob::submit_laid() {
  for (std::size_t i = 0; i < laid_.size(); ++i) {
    Transfer& transfer = *laid_[i];
    transfer.slot = static_cast<std::uint32_t>(transfers_.size());
    transfer.context = this;
    transfer.on_done = [](Transfer& done) { static_cast<AppendJob*>(done.context)->finish(done); };
    transfers_.push_back(&transfer);
    ++outstanding_;
    core_.queue(block::RequestKind::kWrite).submit(transfer);
  }
  laid_.clear();
}

void AppendJob::end_laying() {
  builder_->end();
  ++outstanding_;  // a device that completes at once must not settle the job halfway through
  submit_laid();
  --outstanding_;
  laying_ = false;
  builder_.reset();
  settle();
}

void AppendJob::finish(Transfer& done) {
  transfers_[done.slot] = nullptr;
  const block::Request& request = done.request;
  Status status;
  if (!request.done_bytes) {
    status = std::unexpected(request.done_bytes.error());
  } else if (*request.done_bytes != request.length_bytes) {
    status = fail(Errc::kIo, "flash: short write");
  }
  if (!status) {
    for (std::uint32_t i = done.first_tag; i <= done.last_tag; ++i) {
      if (!records_[i].decided) decide(records_[i], status);
    }
  }
  core_.transfers.give_back(&done);
  --outstanding_;
  settle();
}

AppendJob::Headers AppendJob::headers() const {
  Headers all = Headers::kWritten;
  for (const Record& record : records_) {
    if (record.decided) continue;
    const HeaderState one = core_.segments.at(record.place.segment).header;
    if (one == HeaderState::kFailed) return Headers::kFailed;
    if (one == HeaderState::kPending) all = Headers::kPending;
  }
  return all;
}

void AppendJob::committed(Status flushed) {
  committing_ = false;
  if (flushed && core_.failed_flushes() != failed_flushes_before_) {
    flushed = fail(Errc::kIo, "flash append: a flush failed meanwhile");
  }
  // Deciding wakes others, perhaps this very call: the job must outlive the loop.
  ++outstanding_;
  for (Record& record : records_) {
    if (!record.decided) decide(record, flushed);
  }
  --outstanding_;
  settle();
}

void AppendJob::decide(Record& record, Status status) {
  record.decided = true;
  --undecided_;
  FlashAppend& item = *std::exchange(record.item, nullptr);
  const bool good = status.has_value();
  item.status = status;
  item.page = good ? record.place.page : kNoFlashPage;
  if (extras_ != nullptr && extras_->kind == RecordKind::kTombstones) {
    writer_.head().resolve_tombstones(record.place, extras_->tombstones, good);
    return;
  }
  if (good) {
    claims_->add(record.place.segment);
    core_.segments.add_live(record.place.page, record.data_bytes, record.id);
    const bool moved = extras_ != nullptr && extras_->for_reclaim;
    (moved ? core_.counters.moved_bytes : core_.counters.host_written_bytes) += record.data_bytes;
  }
  writer_.head().resolve(record.place, record.data_bytes, good);
}

bool AppendJob::holds_undecided(const BlockId& id) const {
  return std::ranges::any_of(
      records_, [&id](const Record& record) { return !record.decided && record.id == id; });
}

void AppendJob::give_up(const Error& why) {
  ++outstanding_;  // deciding wakes others, cancelling may complete the last transfer
  for (Record& record : records_) {
    if (!record.decided) decide(record, std::unexpected(why));
  }
  TransferQueue& queue = core_.queue(block::RequestKind::kWrite);
  if (builder_) builder_->end();
  for (Transfer* transfer : laid_) core_.transfers.give_back(transfer);
  laid_.clear();
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    Transfer* transfer = transfers_[i];
    if (transfer == nullptr) continue;
    if (queue.remove(*transfer)) {
      transfers_[i] = nullptr;
      core_.transfers.give_back(transfer);
      --outstanding_;
    } else if (!core_.abandoned()) {
      queue.cancel(*transfer);
    }
  }
  --outstanding_;
}

void AppendJob::settle() {
  if (laying_) return;
  if (outstanding_ == 0 && undecided_ > 0 && !committing_) {
    committing_ = true;
    writer_.commit(*this);
    return;
  }
  if (attached_) {
    const bool ready = undecided_ == 0 && (!unowned_ || outstanding_ == 0);
    if (ready && waiter_ != nullptr) waiter_->wake();
  } else if (outstanding_ == 0 && !committing_) {
    recycle();
  }
}

void AppendJob::detach() {
  waiter_ = nullptr;
  if (undecided_ > 0) give_up(Error(Errc::kCancelled, "flash: the call was dropped"));
  attached_ = false;
  laying_ = false;
  settle();
}

void AppendJob::recycle() {
  for (const Record& record : records_) core_.segments.unpin(record.place.segment);
  records_.clear();
  transfers_.clear();
  owners_.clear();
  builder_.reset();
  laid_records_ = 0;
  unowned_ = false;
  extras_ = nullptr;
  claims_ = nullptr;
  writer_.give_back(this);
}

}  // namespace forebay::store

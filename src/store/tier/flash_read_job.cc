#include "store/tier/flash_read_job.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/crc32c.h"
#include "store/tier/flash_format.h"
#include "store/tier/flash_reader.h"

namespace forebay::store {
namespace {

// What a reader may see of the device's own refusals.
Error as_read_error(const Error& error) {
  switch (error.code) {
    case Errc::kTimedOut:
    case Errc::kCancelled:
    case Errc::kGone:
    case Errc::kIo:
      return error;
    case Errc::kInvalid:
    case Errc::kNotFound:
    case Errc::kExists:
    case Errc::kBusy:
    case Errc::kCorrupt:
    case Errc::kNoSpace:
    case Errc::kReadOnly:
    case Errc::kUnsupported:
    case Errc::kDenied:
    case Errc::kVersion:
      break;
  }
  Error mapped = error;
  mapped.code = Errc::kIo;
  return mapped;
}

}  // namespace

Status ReadJob::admit(const FlashRead& item) const {
  const FlashLayout& layout = core_.layout();
  if (!layout.in_segments(item.page)) return fail(Errc::kNotFound, "flash: no such page");
  const std::uint32_t index = layout.segment_of(item.page);
  if (core_.segments.at(index).state == SegmentState::kFree) {
    return fail(Errc::kNotFound, "flash: the segment was reclaimed");
  }
  const std::uint64_t end = std::uint64_t{item.page} + layout.record_pages(item.data_bytes);
  if (item.page == layout.segment_page(index) ||
      end > std::uint64_t{layout.segment_page(index)} + layout.segment_pages()) {
    return fail(Errc::kNotFound, "flash: no record of that length fits there");
  }
  if (block::total_bytes(item.data.pieces) != item.data_bytes) {
    return fail(Errc::kInvalid, "flash: the lent pieces are not the record's length");
  }
  return {};
}

block::Request ReadJob::prototype(const block::IoOptions& io) const {
  block::Request request;
  request.kind = block::RequestKind::kRead;
  request.op_class = io.op_class;
  request.tenant = io.tenant;
  request.deadline = io.deadline;
  request.op_id = io.op_id;
  return request;
}

void ReadJob::start(std::span<FlashRead> items, const FlashCall& call) {
  attached_ = true;
  items_ = items;
  io_ = call.io;
  StreamBuilder builder(core_, prototype(io_), laid_);
  FlashPage next_page = kNoFlashPage;
  for (FlashRead& item : items) {
    item.status = admit(item);
    if (!item.status) continue;
    if (item.page != next_page) builder.begin(core_.layout().offset_of(item.page));
    next_page = item.page + core_.layout().record_pages(item.data_bytes);
    add_record(item);
    lay(builder, static_cast<std::uint32_t>(records_.size() - 1));
  }
  builder.end();
  undecided_ = records_.size();
  take_transfers();
  submit_from(0);
}

void ReadJob::add_record(FlashRead& item) {
  Record& record = records_.emplace_back();
  record.item = &item;
  record.segment = core_.layout().segment_of(item.page);
  record.sequence = core_.segments.at(record.segment).sequence;
  record.data_begin = core_.layout().offset_of(item.page) + core_.layout().page_bytes;
  record.header = core_.buffers.page();
  core_.segments.pin(record.segment);
  owners_.push_back(item.data.owner);
  if (item.data.owner == nullptr) unowned_ = true;
}

void ReadJob::lay(StreamBuilder& builder, std::uint32_t index) {
  const Record& record = records_[index];
  builder.tag(index);
  builder.add_aligned(record.header.data(), record.header.size());
  builder.add_data(record.item->data.pieces, record.item->data_bytes);
}

void ReadJob::take_transfers() {
  for (Transfer* transfer : laid_) {
    const auto slot = static_cast<std::uint32_t>(slots_.size());
    transfer->slot = slot;
    transfer->context = this;
    transfer->on_done = [](Transfer& done) { static_cast<ReadJob*>(done.context)->finish(done); };
    const block::Request& request = transfer->request;
    slots_.push_back({request.offset_bytes + request.length_bytes, transfer->first_tag,
                      transfer->last_tag, false, transfer});
    for (std::uint32_t i = transfer->first_tag; i <= transfer->last_tag; ++i) {
      Record& record = records_[i];
      // The slots of a record are consecutive; the first one seen starts them.
      if (request.offset_bytes < record.data_begin) record.next_slot = slot;
      record.last_slot = slot;
    }
  }
  laid_.clear();
}

void ReadJob::submit_from(std::size_t slot) {
  const std::size_t end = slots_.size();
  outstanding_ += end - slot;
  for (; slot < end; ++slot) core_.queue(block::RequestKind::kRead).submit(*slots_[slot].transfer);
}

void ReadJob::finish(Transfer& done) {
  const std::uint32_t index = done.slot;
  slots_[index].transfer = nullptr;
  slots_[index].done = true;
  const Slot slot = slots_[index];
  const block::Request& request = done.request;
  Status status;
  if (!request.done_bytes) {
    status = std::unexpected(as_read_error(request.done_bytes.error()));
  } else if (*request.done_bytes != request.length_bytes) {
    status = fail(Errc::kIo, "flash: short read");
  }
  if (attached_ && status) done.copy_out();
  core_.transfers.give_back(&done);
  if (attached_ && undecided_ > 0) {
    if (status) {
      for (std::uint32_t i = slot.first_record; i <= slot.last_record; ++i) advance(i);
    } else {
      fail_records(slot, status.error());
    }
  }
  --outstanding_;
  settle();
}

void ReadJob::fail_records(const Slot& slot, const Error& error) {
  for (std::uint32_t i = slot.first_record; i <= slot.last_record; ++i) {
    Record& record = records_[i];
    if (record.decided) continue;
    // One bad sector must not cost its neighbours in the same request.
    const bool shared = slot.first_record != slot.last_record;
    if (shared && error.code == Errc::kIo && !record.retried) {
      retry_alone(i);
    } else {
      decide(record, std::unexpected(error));
    }
  }
}

void ReadJob::retry_alone(std::uint32_t index) {
  Record& record = records_[index];
  record.retried = true;
  record.checked_bytes = 0;
  record.crc = 0;
  record.piece = 0;
  record.piece_at = 0;
  StreamBuilder builder(core_, prototype(io_), laid_);
  builder.begin(record.data_begin - core_.layout().page_bytes);
  lay(builder, index);
  builder.end();
  const std::size_t first = slots_.size();
  take_transfers();
  submit_from(first);
}

void ReadJob::advance(std::uint32_t index) {
  Record& record = records_[index];
  while (!record.decided && record.next_slot <= record.last_slot && slots_[record.next_slot].done) {
    const std::uint64_t here = slots_[record.next_slot].end;
    const std::uint64_t arrived = here > record.data_begin ? here - record.data_begin : 0;
    const std::uint64_t bytes = std::min<std::uint64_t>(arrived, record.item->data_bytes);
    check_bytes(record, bytes - record.checked_bytes);
    ++record.next_slot;
  }
  if (!record.decided && record.next_slot > record.last_slot) decide(record, prove(record));
}

void ReadJob::check_bytes(Record& record, std::uint64_t bytes) {
  record.checked_bytes += bytes;
  const std::span<const iovec> pieces = record.item->data.pieces;
  while (bytes > 0) {
    const iovec& piece = pieces[record.piece];
    const std::size_t size = std::min<std::uint64_t>(bytes, piece.iov_len - record.piece_at);
    const auto* at = static_cast<const std::byte*>(piece.iov_base) + record.piece_at;
    record.crc = crc32c({at, size}, record.crc);
    bytes -= size;
    record.piece_at += size;
    if (record.piece_at == piece.iov_len) {
      ++record.piece;
      record.piece_at = 0;
    }
  }
}

Status ReadJob::prove(Record& record) {
  const FlashRead& item = *record.item;
  RecordPlace expected;
  expected.uuid = core_.uuid();
  expected.sequence = record.sequence;
  expected.page = item.page;
  const auto decoded = decode_record_header(record.header.bytes(), expected);
  if (!decoded) {
    Error error = decoded.error();
    error.code = Errc::kCorrupt;
    return std::unexpected(error);
  }
  if (decoded->place.kind != RecordKind::kBlock) return fail(Errc::kCorrupt, "record: not a block");
  if (decoded->facts.id != item.id) return fail(Errc::kCorrupt, "record: another block");
  if (decoded->facts.data_bytes != item.data_bytes) {
    return fail(Errc::kCorrupt, "record: another length");
  }
  if (decoded->place.data_crc != record.crc) return fail(Errc::kCorrupt, "record: data checksum");
  return {};
}

void ReadJob::decide(Record& record, Status status) {
  record.decided = true;
  if (!status && status.error().code == Errc::kCorrupt) ++core_.counters.corrupt_records;
  record.item->status = status;
  --undecided_;
}

void ReadJob::give_up(const Error& why) {
  for (Record& record : records_) {
    if (!record.decided) decide(record, std::unexpected(why));
  }
  TransferQueue& queue = core_.queue(block::RequestKind::kRead);
  ++outstanding_;  // cancelling may complete the last transfer
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Transfer* transfer = slots_[i].transfer;
    if (transfer == nullptr) continue;
    if (queue.remove(*transfer)) {
      slots_[i].transfer = nullptr;
      core_.transfers.give_back(transfer);
      --outstanding_;
    } else if (!core_.abandoned()) {
      queue.cancel(*transfer);
    }
  }
  --outstanding_;
}

void ReadJob::hand_out_headers(std::vector<IoBuffer>& headers) {
  headers.clear();
  headers.resize(items_.size());
  for (Record& record : records_) {
    const auto at = static_cast<std::size_t>(record.item - items_.data());
    if (record.item->status) headers[at] = std::move(record.header);
  }
}

void ReadJob::settle() {
  if (attached_) {
    const bool ready = undecided_ == 0 && (!unowned_ || outstanding_ == 0);
    if (ready && waiter_ != nullptr) waiter_->wake();
  } else if (outstanding_ == 0) {
    recycle();
  }
}

void ReadJob::detach() {
  waiter_ = nullptr;
  if (undecided_ > 0) give_up(Error(Errc::kCancelled, "flash: the call was dropped"));
  attached_ = false;
  settle();
}

void ReadJob::recycle() {
  for (const Record& record : records_) core_.segments.unpin(record.segment);
  records_.clear();
  slots_.clear();
  owners_.clear();
  undecided_ = 0;
  unowned_ = false;
  reader_.give_back(this);
}

}  // namespace forebay::store

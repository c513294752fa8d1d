#include "store/tier/flash_walk.h"

#include <algorithm>
#include <utility>

#include "core/crc32c.h"

namespace forebay::store {
namespace {

// The writer puts far fewer into one record; a length beyond this is not ours.
constexpr std::size_t kTombstoneBytesMax = 1 << 20;

}  // namespace

SegmentWalker::SegmentWalker(const Start& start, Sink sink)
    : start_(start),
      sink_(std::move(sink)),
      page_(start.from_page),
      end_page_(start.from_page),
      header_(start.page_bytes) {}

bool SegmentWalker::finished() const {
  if (page_ >= start_.segment_pages) return true;
  return !start_.to_the_end && !record_ && gap_pages_ > kRecordBytesMax / start_.page_bytes;
}

void SegmentWalker::feed(std::span<const std::byte> bytes) {
  while (bytes.size() >= start_.page_bytes && !finished()) {
    const auto page = bytes.first(start_.page_bytes);
    bytes = bytes.subspan(start_.page_bytes);
    if (record_) {
      take_data(page);
    } else {
      try_header(page);
    }
    ++page_;
  }
}

void SegmentWalker::try_header(std::span<const std::byte> page) {
  ++gap_pages_;
  RecordPlace expected;
  expected.uuid = start_.uuid;
  expected.page = start_.segment_page + page_;
  expected.sequence = start_.sequence.value_or(load_as<RecordHeader>(page).sequence);
  if (!decode_record_header(page, expected)) return;
  std::ranges::copy(page, header_.begin());
  record_ = *decode_record_header(header_, expected);
  const std::uint64_t data_bytes = record_->facts.data_bytes;
  const std::uint64_t end = page_ + 1 + divide_up(data_bytes, start_.page_bytes);
  const bool tombstones = record_->place.kind == RecordKind::kTombstones;
  if (end > start_.segment_pages || (tombstones && data_bytes > kTombstoneBytesMax)) {
    record_.reset();
    return;
  }
  start_.sequence = expected.sequence;
  record_page_ = page_;
  end_page_ = static_cast<std::uint32_t>(end);
  gap_pages_ = 0;
  data_left_ = data_bytes;
  crc_ = 0;
  tombstones_.clear();
  if (data_left_ == 0) finish_record();
}

void SegmentWalker::take_data(std::span<const std::byte> page) {
  const auto data = page.first(std::min<std::uint64_t>(page.size(), data_left_));
  crc_ = crc32c(data, crc_);
  data_left_ -= data.size();
  if (record_->place.kind == RecordKind::kTombstones) {
    tombstones_.insert(tombstones_.end(), data.begin(), data.end());
  }
  if (data_left_ == 0) finish_record();
}

void SegmentWalker::finish_record() {
  const bool good = crc_ == record_->place.data_crc;
  sink_(Seen{*record_, record_page_, good,
             good ? std::span<const std::byte>(tombstones_) : std::span<const std::byte>()});
  record_.reset();
}

}  // namespace forebay::store

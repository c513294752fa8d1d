#include "store/tier/flash_scan.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/bytes.h"
#include "store/tier/flash_walk.h"

namespace forebay::store {
namespace {

bool ends_the_scan(const Error& error) {
  return error.code == Errc::kGone || error.code == Errc::kTimedOut ||
         error.code == Errc::kCancelled;
}

}  // namespace

Task<void> for_each_ahead(std::uint32_t count, std::size_t width,
                          std::function<Task<void>(std::uint32_t)> fn) {
  std::deque<Task<void>> running;
  for (std::uint32_t next = 0; next < count || !running.empty();) {
    while (next < count && running.size() < width) {
      running.push_back(fn(next++));
      running.back().start();
    }
    co_await running.front();
    running.pop_front();
  }
}

Task<Status> read_segment(FlashCore* core, SegmentStretch stretch,
                          std::function<bool(std::span<const std::byte>, bool)> take,
                          RangeOptions options) {
  const FlashLayout& layout = core->layout();
  const std::uint32_t chunk_pages = core->transfer_bytes() / layout.page_bytes;
  const FlashPage first = layout.segment_page(stretch.segment);
  struct Chunk {
    std::size_t bytes;
    Task<Result<IoBuffer>> read;
  };
  std::deque<Chunk> ahead;
  std::uint32_t next = stretch.begin_page;
  while (next < stretch.end_page || !ahead.empty()) {
    while (next < stretch.end_page && ahead.size() < kScanAhead) {
      const std::uint32_t pages = std::min(chunk_pages, stretch.end_page - next);
      const std::size_t bytes = std::size_t{pages} * layout.page_bytes;
      ahead.push_back({bytes, read_range(core, layout.offset_of(first + next),
                                         core->buffers.take(bytes), options)});
      ahead.back().read.start();
      next += pages;
    }
    Chunk chunk = std::move(ahead.front());
    ahead.pop_front();
    auto bytes = co_await chunk.read;
    const bool readable = bytes.has_value();
    if (!readable) {
      if (ends_the_scan(bytes.error())) co_return std::unexpected(bytes.error());
      IoBuffer zeroes = core->buffers.take(chunk.bytes);
      std::ranges::fill(zeroes.bytes(), std::byte{0});
      bytes = std::move(zeroes);
    }
    if (!take(bytes->bytes(), readable)) co_return Status{};
  }
  co_return Status{};
}

Task<Result<ScanOutcome>> scan_segment(FlashCore* core, ScanRequest request,
                                       SegmentRecords* records, RangeOptions options) {
  const FlashLayout& layout = core->layout();
  ScanOutcome outcome;
  SegmentWalker::Start start;
  start.uuid = core->uuid();
  start.segment_page = layout.segment_page(request.segment);
  start.segment_pages = layout.segment_pages();
  start.page_bytes = layout.page_bytes;
  start.from_page = request.from_page;
  start.sequence = request.sequence;
  std::uint32_t good_pages = 0;
  SegmentWalker walker(start, [&](const SegmentWalker::Seen& seen) {
    ++(seen.data_good ? outcome.good_records : outcome.bad_records);
    if (!seen.data_good) return;
    good_pages += layout.record_pages(seen.record.facts.data_bytes);
    if (seen.record.place.kind == RecordKind::kBlock) {
      records->add(seen.record.facts, seen.page, RecordState::kGood);
      return;
    }
    for (auto left = seen.tombstones; left.size() >= sizeof(Tombstone);
         left = left.subspan(sizeof(Tombstone))) {
      records->add_tombstone(load_as<Tombstone>(left));
    }
  });
  auto take = [&walker](std::span<const std::byte> bytes, bool) {
    walker.feed(bytes);
    return !walker.finished();
  };
  SegmentStretch stretch{request.segment, request.from_page, layout.segment_pages()};
  const Status read = co_await read_segment(core, stretch, take, options);
  if (!read) co_return std::unexpected(read.error());
  outcome.sequence = walker.sequence();
  outcome.end_page = walker.end_page();
  outcome.unproven_pages = outcome.end_page - request.from_page - good_pages;
  co_return outcome;
}

}  // namespace forebay::store

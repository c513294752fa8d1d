#include "store/tier/flash_scrub.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "store/tier/flash_scan.h"
#include "store/tier/flash_summary_load.h"
#include "store/tier/flash_walk.h"

namespace forebay::store {
namespace {

constexpr const char* kUnproven = "its header does not prove itself";
constexpr std::size_t kCallsPerTurn = 256;

// A segment cannot be freed, and its pages not be written again, while it is looked at.
class Pinned {
 public:
  Pinned(FlashCore& core, std::uint32_t segment) : core_(core), segment_(segment) {
    core_.segments.pin(segment_);
  }
  ~Pinned() { core_.segments.unpin(segment_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  FlashCore& core_;
  std::uint32_t segment_;
};

}  // namespace

Task<Result<FlashTier::VerifyResult>> Scrubber::run(FlashCall call) {
  RangeOptions options;
  options.op_class = block::OpClass::kGc;
  options.deadline = call.io.deadline;
  options.cancel = call.cancel;
  for (const FlashFinding& left : core_.unhealed) {
    ++result_.bad;
    find(left.offset_bytes, left.id, left.reason);
  }
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    FOREBAY_CO_TRY_STATUS(co_await scrub(i, options));
  }
  co_return std::move(result_);
}

Task<Status> Scrubber::scrub(std::uint32_t segment, RangeOptions options) {
  const SegmentState state = core_.segments.at(segment).state;
  if (state == SegmentState::kFree || state == SegmentState::kEmptied) co_return Status{};
  const Pinned pinned(core_, segment);
  expected_.clear();
  FOREBAY_CO_TRY_STATUS(co_await list(segment, options));
  if (expected_.empty()) co_return Status{};
  FOREBAY_CO_TRY_STATUS(co_await walk(segment, options));
  co_await judge(segment);
  co_return Status{};
}

Task<Status> Scrubber::list(std::uint32_t segment, RangeOptions options) {
  const Segment& at = core_.segments.at(segment);
  if (at.records != nullptr) {
    for (const LoggedRecord& record : at.records->records()) {
      if (!SegmentRecords::stands(record)) continue;
      expected_.push_back({record.id, record.page, record.data_bytes, kUnproven});
    }
    co_return Status{};
  }
  const auto summary = co_await load_summary(&core_, segment, options);
  if (summary) {
    for (std::uint32_t i = 0; i < summary->view->record_count(); ++i) {
      const SummaryEntry entry = summary->view->entry(i);
      expected_.push_back({entry.id, entry.page, entry.data_bytes, kUnproven});
    }
    co_return Status{};
  }
  const Errc code = summary.error().code;
  if (code != Errc::kCorrupt && code != Errc::kIo) co_return std::unexpected(summary.error());
  const FlashLayout& layout = core_.layout();
  ++result_.bad;
  find(layout.offset_of(layout.segment_page(segment) + at.body_page), BlockId{},
       fmt::format("the summary of segment {}: {}", segment, to_string(summary.error())));
  co_return Status{};
}

Task<Status> Scrubber::walk(std::uint32_t segment, RangeOptions options) {
  const FlashLayout& layout = core_.layout();
  SegmentWalker::Start start;
  start.uuid = core_.uuid();
  start.segment_page = layout.segment_page(segment);
  start.segment_pages = layout.segment_pages();
  start.page_bytes = layout.page_bytes;
  start.sequence = core_.segments.at(segment).sequence;
  start.to_the_end = true;
  std::size_t next = 0;
  SegmentWalker walker(start, [this, &next](const SegmentWalker::Seen& seen) {
    while (next < expected_.size() && expected_[next].page < seen.page) ++next;
    if (next == expected_.size() || expected_[next].page != seen.page) return;
    Expected& expected = expected_[next];
    const RecordFacts& facts = seen.record.facts;
    if (facts.id != expected.id || facts.data_bytes != expected.data_bytes) {
      expected.trouble = "another block stands there";
    } else {
      expected.trouble = seen.data_good ? nullptr : "its data does not match its checksum";
    }
  });
  const Expected& last = expected_.back();
  SegmentStretch stretch;
  stretch.segment = segment;
  stretch.begin_page = 1;
  stretch.end_page = last.page + layout.record_pages(last.data_bytes);
  co_return co_await read_segment(
      &core_, stretch,
      [&walker](std::span<const std::byte> bytes, bool) {
        walker.feed(bytes);
        return true;
      },
      options);
}

Task<void> Scrubber::judge(std::uint32_t segment) {
  const FlashLayout& layout = core_.layout();
  std::size_t calls = 0;
  for (const Expected& expected : expected_) {
    const FlashPage page = layout.segment_page(segment) + expected.page;
    if (++calls % kCallsPerTurn == 0) co_await core_.loop().yield();
    if (!core_.owner().is_live(expected.id, page)) continue;
    ++result_.records;
    result_.bytes += expected.data_bytes;
    if (expected.trouble == nullptr) continue;
    ++result_.bad;
    ++core_.counters.corrupt_records;
    find(layout.offset_of(page), expected.id, expected.trouble);
  }
}

void Scrubber::find(std::uint64_t offset_bytes, const BlockId& id, std::string reason) {
  if (result_.findings.size() >= findings_max_) return;
  result_.findings.push_back({offset_bytes, id, std::move(reason)});
}

}  // namespace forebay::store

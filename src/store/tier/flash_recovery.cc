#include "store/tier/flash_recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

#include "core/log.h"
#include "store/tier/flash_scan.h"

namespace forebay::store {
namespace {

constexpr std::size_t kSurveyWidth = 128;  // one page each
constexpr std::size_t kLoadWidth = 16;     // summaries of some 100 KiB each
constexpr std::size_t kBatchRecords = 256;

bool ends_recovery(const Error& error) {
  return error.code == Errc::kGone || error.code == Errc::kTimedOut ||
         error.code == Errc::kCancelled;
}

}  // namespace

Task<Status> FlashRecovery::run() {
  surveyed_.resize(core_.layout().segment_count);
  clean_tail_.resize(core_.layout().segment_count);
  FOREBAY_CO_TRY_STATUS(co_await read_checkpoints());
  co_await for_each_ahead(core_.layout().segment_count, kSurveyWidth,
                          [this](std::uint32_t index) { return survey(index); });
  if (broken_) co_return std::unexpected(*broken_);
  for (std::uint32_t i = 0; i < core_.layout().segment_count; ++i) classify(i);
  FOREBAY_CO_TRY_STATUS(co_await scan_unsealed());
  FOREBAY_CO_TRY_STATUS(co_await load_tombstones());
  FOREBAY_CO_TRY_STATUS(co_await deliver_all());
  settle_states();
  if (damaged_summaries_ > 1) {
    log_warn("flash: {} segments had damaged summaries", damaged_summaries_);
  }
  co_return Status{};
}

Task<Result<IoBuffer>> FlashRecovery::read_page(FlashPage page) {
  return read_range(&core_, core_.layout().offset_of(page), core_.buffers.page(), options_);
}

Task<Status> FlashRecovery::read_checkpoints() {
  for (std::uint32_t area = 0; area < 2; ++area) {
    const auto page = co_await read_page(core_.layout().area_page(area));
    if (!page) {
      if (ends_recovery(page.error())) co_return std::unexpected(page.error());
      continue;
    }
    const auto header = decode_checkpoint(page->bytes(), core_.uuid(), area);
    if (!header) continue;
    if (!checkpoint_ || header->checkpoint_sequence > checkpoint_->checkpoint_sequence) {
      checkpoint_ = *header;
    }
  }
  if (checkpoint_) core_.segments.raise_sequence(checkpoint_->next_segment_sequence);
  co_return Status{};
}

Task<void> FlashRecovery::survey(std::uint32_t index) {
  const FlashLayout& layout = core_.layout();
  const FlashPage first = layout.segment_page(index);
  const auto head = co_await read_page(first);
  if (head) {
    surveyed_[index].header = decode_segment_header(head->bytes(), core_.uuid(), index);
  } else if (ends_recovery(head.error())) {
    broken_ = head.error();
    co_return;
  }
  // A segment that says it is free has nothing to say at its end.
  const auto& header = surveyed_[index].header;
  if (header && header->mark == SegmentMark::kFree) co_return;
  const auto tail = co_await read_page(first + layout.segment_pages() - 1);
  if (tail) {
    surveyed_[index].footer = decode_summary_footer(tail->bytes(), core_.uuid(), index);
    surveyed_[index].footer_was_there =
        !surveyed_[index].footer && has_footer_marks(tail->bytes(), core_.uuid());
  } else if (ends_recovery(tail.error())) {
    broken_ = tail.error();
  }
}

void FlashRecovery::classify(std::uint32_t index) {
  const Surveyed& seen = surveyed_[index];
  Segment& segment = core_.segments.at(index);
  if (seen.header) {
    segment.sequence = seen.header->sequence;
    core_.segments.raise_sequence(segment.sequence + 1);
    if (seen.header->mark == SegmentMark::kFree) return;
  }
  // A damaged header does not cost the records: they and the summary prove themselves.
  const bool sealed = seen.footer && (!seen.header || seen.footer->sequence == segment.sequence);
  if (!sealed) {
    unsealed_.push_back(index);
    return;
  }
  segment.sequence = seen.footer->sequence;
  core_.segments.raise_sequence(segment.sequence + 1);
  segment.counts = seen.footer->counts;
  segment.body_page = seen.footer->body_page;
  segment.end_page = seen.footer->data_end_page;
  core_.segments.set_state(index, SegmentState::kSealed);
}

Task<Status> FlashRecovery::scan_unsealed() {
  for (const std::uint32_t index : unsealed_) {
    const auto& header = surveyed_[index].header;
    std::optional<std::uint64_t> sequence;
    if (header) sequence = header->sequence;
    FOREBAY_CO_TRY(found, co_await scan(index, sequence));
    const std::uint32_t footer_page = core_.layout().segment_pages() - 1;
    if (const auto why = lost_footer(index)) note({index, footer_page, *why}, found);
  }
  co_return Status{};
}

// A crash leaves a segment without a footer too, but not one that bears the marks of a footer, nor
// one older than the segment that was open at the last checkpoint.
std::optional<Error> FlashRecovery::lost_footer(std::uint32_t index) const {
  const Surveyed& seen = surveyed_[index];
  if (seen.footer_was_there) return seen.footer.error();
  if (!seen.header || !checkpoint_) return std::nullopt;
  const bool none_open = checkpoint_->open_segment == kNoSegment;
  const std::uint64_t sealed_below =
      none_open ? checkpoint_->next_segment_sequence : checkpoint_->open_sequence;
  if (seen.header->sequence >= sealed_below) return std::nullopt;
  return seen.footer ? Error{Errc::kCorrupt, "summary: of an earlier life"} : seen.footer.error();
}

Task<Result<ScanOutcome>> FlashRecovery::scan(std::uint32_t index,
                                              std::optional<std::uint64_t> sequence) {
  Segment& segment = core_.segments.at(index);
  segment.records = std::make_unique<SegmentRecords>();
  ScanRequest request;
  request.segment = index;
  request.sequence = sequence;
  const bool has_tail = sequence && checkpoint_ && checkpoint_->open_segment == index &&
                        checkpoint_->open_sequence == *sequence;
  if (has_tail) request.from_page = co_await take_tail_summary(index);
  const std::uint32_t from_page = request.from_page;
  FOREBAY_CO_TRY(outcome, co_await scan_segment(&core_, request, segment.records.get(), options_));
  clean_tail_[index] = from_page > 1 && outcome.end_page == from_page;
  segment.end_page = std::max(outcome.end_page, from_page);
  segment.proven_page = segment.end_page;
  if (outcome.sequence) segment.sequence = *outcome.sequence;
  core_.segments.raise_sequence(segment.sequence + 1);
  const bool empty = segment.records->records().empty() && segment.records->tombstones().empty();
  if (empty && !clean_tail_[index]) {
    segment.records.reset();
    core_.segments.set_state(index, SegmentState::kFree);
    co_return outcome;  // nothing was ever acknowledged in it
  }
  core_.segments.set_state(index, SegmentState::kFull);
  co_return outcome;
}

Task<std::uint32_t> FlashRecovery::take_tail_summary(std::uint32_t index) {
  const FlashLayout& layout = core_.layout();
  const std::uint32_t end = checkpoint_->open_end_page;
  const std::uint64_t bytes = checkpoint_->tail.body_bytes;
  if (end < 1 || end > layout.segment_pages() ||
      bytes > std::uint64_t{layout.tail_pages} * layout.page_bytes) {
    co_return 1;
  }
  const FlashPage page = layout.area_page(checkpoint_->area) + 1;
  const auto body =
      co_await read_range(&core_, layout.offset_of(page), core_.buffers.take(bytes), options_);
  if (!body) co_return 1;
  const auto view = SummaryView::parse(checkpoint_->tail, body->bytes(), layout.segment_pages(),
                                       layout.page_bytes);
  if (!view) co_return 1;
  const std::uint32_t count = view->record_count();
  if (count > 0 && view->entry(count - 1).page >= end) co_return 1;
  SegmentRecords& records = *core_.segments.at(index).records;
  for (std::uint32_t i = 0; i < count; ++i) {
    const SummaryEntry entry = view->entry(i);
    records.add(view->facts(entry), entry.page, RecordState::kGood);
  }
  for (std::uint32_t i = 0; i < view->tombstone_count(); ++i) {
    records.add_tombstone(view->tombstone(i));
  }
  co_return end;
}

void FlashRecovery::bury(const Tombstone& tombstone) {
  Burial& at = buried_.try_emplace(tombstone.id, Burial{0, 0}).first->second;
  if (std::tie(tombstone.sequence, tombstone.page) > std::tie(at.sequence, at.page)) {
    at = {tombstone.sequence, tombstone.page};
  }
}

bool FlashRecovery::is_buried(const BlockId& id, std::uint64_t sequence, FlashPage page) const {
  if (buried_.empty()) return false;
  const auto at = buried_.find(id);
  return at != buried_.end() &&
         std::tie(sequence, page) < std::tie(at->second.sequence, at->second.page);
}

Task<Status> FlashRecovery::load_tombstones() {
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    const Segment& segment = core_.segments.at(i);
    if (segment.records != nullptr) {
      for (const Tombstone& tombstone : segment.records->tombstones()) bury(tombstone);
    }
    if (segment.state != SegmentState::kSealed || segment.counts.tombstone_count == 0) continue;
    auto loaded = co_await load(i);
    if (!loaded) co_return std::unexpected(loaded.error());
    if (loaded->summary.view) {
      for (std::uint32_t t = 0; t < loaded->summary.view->tombstone_count(); ++t) {
        bury(loaded->summary.view->tombstone(t));
      }
    } else if (segment.records != nullptr) {
      for (const Tombstone& tombstone : segment.records->tombstones()) bury(tombstone);
    }
  }
  co_return Status{};
}

Task<Result<FlashRecovery::Loaded>> FlashRecovery::load(std::uint32_t index) {
  Loaded loaded;
  if (core_.segments.at(index).state != SegmentState::kSealed) co_return loaded;
  auto summary = co_await load_summary(&core_, index, options_);
  if (summary) {
    loaded.summary = std::move(*summary);
    const Status heat = co_await load_heat(index, &loaded);
    if (!heat) co_return std::unexpected(heat.error());
    co_return loaded;
  }
  if (ends_recovery(summary.error())) co_return std::unexpected(summary.error());
  const std::uint32_t body_page = core_.segments.at(index).body_page;
  FOREBAY_CO_TRY(found, co_await scan(index, core_.segments.at(index).sequence));
  note({index, body_page, summary.error()}, found);
  co_return loaded;
}

// A writable device gets a new one when the segment is sealed again.
void FlashRecovery::note(const DamagedSummary& damaged, const ScanOutcome& found) {
  const std::string reason = fmt::format(
      "the summary of segment {} is damaged ({}); its records were read instead: {} prove "
      "themselves, {} pages before the last of them do not, and a block that stood there is absent",
      damaged.segment, to_string(damaged.why), found.good_records, found.unproven_pages);
  if (damaged_summaries_++ == 0) log_warn("flash: {}", reason);
  if (!core_.device().geometry().read_only) return;
  const FlashLayout& layout = core_.layout();
  core_.unhealed.push_back({layout.offset_of(layout.segment_page(damaged.segment) + damaged.page),
                            {},
                            reason + "; the next writable open writes a new summary"});
}

Task<Status> FlashRecovery::load_heat(std::uint32_t index, Loaded* loaded) {
  if (!checkpoint_ || loaded->summary.view->record_count() == 0) co_return Status{};
  const FlashLayout& layout = core_.layout();
  const std::uint64_t wanted = sizeof(HeatSlotHeader) + loaded->summary.view->record_count() * 4ULL;
  const std::uint64_t slot_bytes = std::uint64_t{layout.slot_pages} * layout.page_bytes;
  auto slot =
      co_await read_range(&core_, layout.offset_of(layout.slot_page(checkpoint_->area, index)),
                          core_.buffers.take(std::min(wanted, slot_bytes)), options_);
  if (!slot) {
    if (ends_recovery(slot.error())) co_return std::unexpected(slot.error());
    co_return Status{};
  }
  HeatSlotHeader expected;
  expected.uuid = core_.uuid();
  expected.sequence = core_.segments.at(index).sequence;
  expected.index = index;
  const auto words = decode_heat_slot(slot->bytes(), expected);
  loaded->slot = std::move(*slot);
  if (words) loaded->heat = *words;
  co_return Status{};
}

Task<Status> FlashRecovery::deliver_all() {
  std::vector<std::uint32_t> order;
  std::uint64_t records = 0;
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    const Segment& segment = core_.segments.at(i);
    if (segment.state == SegmentState::kFree) continue;
    order.push_back(i);
    records += segment.records ? segment.records->records().size() : segment.counts.record_count;
  }
  std::ranges::sort(
      order, {}, [this](std::uint32_t i) { return std::pair(core_.segments.at(i).sequence, i); });
  core_.owner().on_recovery_size(records);
  std::deque<Task<Result<Loaded>>> ahead;
  std::size_t next = 0;
  for (const std::uint32_t index : order) {
    while (next < order.size() && ahead.size() < kLoadWidth) {
      ahead.push_back(load(order[next++]));
      ahead.back().start();
    }
    const auto loaded = co_await ahead.front();
    ahead.pop_front();
    if (!loaded) co_return std::unexpected(loaded.error());
    deliver(index, *loaded);
  }
  flush_batch();
  co_return Status{};
}

void FlashRecovery::deliver(std::uint32_t index, const Loaded& loaded) {
  if (!loaded.summary.view) return deliver_scanned(index);
  for (std::uint32_t i = 0; i < loaded.summary.view->record_count(); ++i) {
    const SummaryEntry entry = loaded.summary.view->entry(i);
    RecordFacts facts = loaded.summary.view->facts(entry);
    if (loaded.heat.size() >= (std::size_t{i} + 1) * 4) {
      facts.heat = load_as<std::uint32_t>(loaded.heat.subspan(std::size_t{i} * 4));
    }
    offer(index, facts, entry.page);
  }
  flush_batch();  // its views die with the body
}

void FlashRecovery::deliver_scanned(std::uint32_t index) {
  const Segment& segment = core_.segments.at(index);
  if (segment.records == nullptr) return;
  for (const LoggedRecord& record : segment.records->records()) {
    if (SegmentRecords::stands(record)) {
      offer(index, segment.records->facts(record), record.page);
    }
  }
  flush_batch();
}

void FlashRecovery::offer(std::uint32_t index, const RecordFacts& facts, std::uint32_t page) {
  const FlashPage at = core_.layout().segment_page(index) + page;
  if (is_buried(facts.id, core_.segments.at(index).sequence, at)) return;
  core_.segments.add_live(at, facts.data_bytes, facts.id);
  ++core_.counters.recovered_blocks;
  batch_.push_back({facts, at});
  if (batch_.size() >= kBatchRecords) flush_batch();
}

void FlashRecovery::flush_batch() {
  if (!batch_.empty()) core_.owner().on_recovered_batch(batch_);
  batch_.clear();
}

void FlashRecovery::settle_states() {
  std::optional<std::uint32_t> newest;
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    const Segment& segment = core_.segments.at(i);
    if (segment.state == SegmentState::kFree) continue;
    if (!newest || segment.sequence > core_.segments.at(*newest).sequence) newest = i;
  }
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    if (core_.segments.at(i).state != SegmentState::kFull) continue;
    // Writing goes on where a clean stop left it. After a crash it does not: what lies behind the
    // last good record may be half of a record, and a later scan must not meet it.
    if (newest == i && clean_tail_[i] && core_.segments.at(i).header == HeaderState::kWritten) {
      core_.segments.set_state(i, SegmentState::kOpen);
      core_.segments.adopt_open(i);
    } else {
      to_seal_.push_back(i);
    }
  }
}

}  // namespace forebay::store

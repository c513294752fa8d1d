#include "store/tier/flash_reclaim.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/log.h"
#include "store/tier/flash_range.h"
#include "store/tier/flash_scan.h"
#include "store/tier/flash_summary_load.h"
#include "store/tier/flash_superblock.h"
#include "store/tier/flash_victim.h"

namespace forebay::store {
namespace {

constexpr std::size_t kCallsPerTurn = 256;
constexpr std::uint64_t kBatchBytesMax = 8 * kMiB;
// After a refused write, or when nothing can be freed: how long until it is tried again.
constexpr Nanos kPause = std::chrono::milliseconds(100);

RangeOptions gc_options() {
  RangeOptions options;
  options.op_class = block::OpClass::kGc;
  return options;
}

FlashCall gc_call() {
  FlashCall call;
  call.io.op_class = block::OpClass::kGc;
  return call;
}

}  // namespace

// What the device reads into and writes from: held by its requests, so it outlives a tier that
// goes.
struct MoveMemory {
  std::vector<IoBuffer> data;
  std::vector<IoBuffer> headers;
  std::vector<iovec> pieces;
};

// The copies of one batch, and where each comes from.
struct Reclaimer::Copies {
  std::vector<FlashAppend> appends;
  std::vector<FlashPage> from;
};

Reclaimer::Reclaimer(FlashCore& core, FlashReader& reader, FlashWriter& writer,
                     TombstoneLog& tombstones)
    : core_(core),
      reader_(reader),
      writer_(writer),
      tombstones_(tombstones),
      terms_(core.options().moved_fraction_max) {}

void Reclaimer::start() {
  writer_.head().on_segments_wanted([this] { wake(); });
  core_.segments.on_unpinned([this] { wake(); });
  running_ = true;
  task_ = run();
  task_.start();
}

void Reclaimer::wake() {
  if (!core_.abandoned()) wakers_.notify();
}

bool Reclaimer::wanted() const {
  const std::uint32_t most = std::max(2U, core_.segments.count() / 4);
  const std::uint32_t low = std::clamp(core_.options().free_segments_low, 2U, most);
  return core_.segments.free_count() < low;
}

bool Reclaimer::has_emptied() const {
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    const Segment& segment = core_.segments.at(i);
    if (segment.state == SegmentState::kEmptied && segment.pins == 0) return true;
  }
  return false;
}

Task<void> Reclaimer::pause(Nanos at_most) {
  const Nanos until = at_most >= kForever ? kForever : core_.now() + at_most;
  Waiter waiter(core_.loop(), until, nullptr);
  wakers_.add(waiter);
  (void)co_await waiter;
  // Woken from inside someone's call: the owner is not asked before that call went on.
  co_await core_.loop().yield();
}

void Reclaimer::note_progress() {
  const std::uint64_t taken = writer_.head().segments_for_reclaim();
  rounds_without_gain_ = taken == taken_before_ ? 0 : rounds_without_gain_ + 1;
  taken_before_ = taken;
}

double Reclaimer::moved_fraction() const {
  constexpr std::uint32_t kPatience = 4;
  if (core_.segments.free_count() == 0) return 0;
  if (rounds_without_gain_ <= kPatience) return core_.options().moved_fraction_max;
  if (rounds_without_gain_ > 2 * kPatience) return 0;
  return core_.options().moved_fraction_max / (1U << (rounds_without_gain_ - kPatience));
}

Task<void> Reclaimer::run() {
  co_await core_.loop().yield();  // open() ends first
  while (!stopping_) {
    if (has_emptied()) {
      const Status freed = co_await free_emptied();
      if (!freed) co_await pause(kPause);
      continue;
    }
    if (!wanted()) {
      co_await pause(kForever);
      continue;
    }
    bool freed = false;
    note_progress();
    if (core_.may_write()) {
      const auto victim = co_await pick();
      if (victim) freed = co_await reclaim(*victim);
      // Whoever waits for room is told, unless a seal is about to give the next victim.
      if (!freed && (victim || !writer_.head().seals_pending())) {
        writer_.head().give_up();
      }
    }
    if (!freed && !stopping_) co_await pause(kPause);
  }
  running_ = false;
  stopped_.notify();
}

Task<Status> Reclaimer::stop(FlashCall call) {
  stopping_ = true;
  wakers_.notify();
  if (running_) {
    Waiter waiter(core_.loop(), call.io.deadline, call.cancel);
    stopped_.add(waiter);
    if (co_await waiter != Wake::kSignalled) {
      co_return fail(Errc::kTimedOut, "flash: reclaim did not end in time");
    }
  }
  co_return Status{};
}

Task<std::optional<std::uint32_t>> Reclaimer::pick() {
  std::optional<std::uint32_t> best;
  VictimCost best_cost;
  std::size_t calls = 0;
  // A crash can leave no free segment at all, so no room for copies. The oldest segment is then the
  // one that can go without any: its tombstones kill nothing that is still on the device.
  const bool nothing_free = core_.segments.free_count() == 0;
  terms_.set_moved_fraction_max(moved_fraction());
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    const Segment& segment = core_.segments.at(i);
    // A full segment whose seal failed is as good a victim as a sealed one.
    const bool unsealed =
        segment.state == SegmentState::kFull && segment.pending == 0 && !segment.sealing;
    if ((segment.state != SegmentState::kSealed && !unsealed) || segment.claims > 0) continue;
    std::array<SampledWorth, Segment::kSamplesMax> samples;
    std::size_t count = 0;
    for (const Segment::Sample& sample : segment.sampled()) {
      SampledWorth& worth = samples[count++];
      worth.pages = sample.pages;
      worth.live = segment.live_pages > 0 && core_.owner().is_live(sample.id, sample.page);
      if (worth.live) worth.worth_per_byte = core_.owner().worth(sample.id, sample.page);
    }
    VictimFacts facts;
    facts.sequence = segment.sequence;
    facts.live_fraction = static_cast<double>(segment.live_pages) / core_.layout().segment_pages();
    facts.age = static_cast<double>(core_.segments.next_sequence() - segment.sequence) /
                core_.segments.count();
    facts.samples = std::span(samples).first(count);
    const VictimCost cost = terms_.cost_of(facts);
    const bool better =
        nothing_free ? facts.sequence < best_cost.sequence : cost.better_than(best_cost);
    if (!best || better) {
      best = i;
      best_cost = cost;
    }
    calls += 2 * count;
    if (calls >= kCallsPerTurn) {
      calls = 0;
      co_await core_.loop().yield();
    }
  }
  co_return best;
}

Task<bool> Reclaimer::reclaim(std::uint32_t victim) {
  const SegmentState before = core_.segments.at(victim).state;
  core_.segments.set_state(victim, SegmentState::kReclaiming);
  std::vector<Tombstone> tombstones;
  auto entries = co_await list(victim, &tombstones);
  if (!entries) {
    const Errc code = entries.error().code;
    if (code == Errc::kCorrupt || code == Errc::kIo) {
      retire(victim, entries.error());
    } else {
      core_.segments.set_state(victim, before);
    }
    co_return false;
  }
  // Tombstones first: they must find room, and what is kept free is enough for them.
  Status moved = co_await carry(std::move(tombstones), victim);
  if (moved) {
    std::vector<Entry> chosen = co_await choose(&*entries);
    moved = co_await move(std::move(chosen));
  }
  if (!moved) {
    core_.segments.set_state(victim, before);
    co_return false;
  }
  co_await drop(std::move(*entries));
  core_.segments.clear_live(victim);
  core_.segments.at(victim).records.reset();
  core_.segments.set_state(victim, SegmentState::kEmptied);
  ++core_.counters.reclaimed_segments;
  co_return true;
}

Task<Result<std::vector<Reclaimer::Entry>>> Reclaimer::list(std::uint32_t victim,
                                                            std::vector<Tombstone>* tombstones) {
  const Segment& segment = core_.segments.at(victim);
  const FlashPage first = core_.layout().segment_page(victim);
  std::vector<Entry> entries;
  if (segment.records != nullptr) {
    for (const LoggedRecord& record : segment.records->records()) {
      if (!SegmentRecords::stands(record)) continue;
      entries.push_back({record.id, first + record.page, record.data_bytes, 0});
    }
    *tombstones = segment.records->tombstones();
    co_return entries;
  }
  const auto summary = co_await load_summary(&core_, victim, gc_options());
  if (summary) {
    for (std::uint32_t i = 0; i < summary->view->record_count(); ++i) {
      const SummaryEntry entry = summary->view->entry(i);
      entries.push_back({entry.id, first + entry.page, entry.data_bytes, 0});
    }
    for (std::uint32_t i = 0; i < summary->view->tombstone_count(); ++i) {
      tombstones->push_back(summary->view->tombstone(i));
    }
    co_return entries;
  }
  if (summary.error().code != Errc::kCorrupt) co_return std::unexpected(summary.error());
  // The records themselves say what the damaged summary no longer does.
  SegmentRecords scanned;
  ScanRequest request;
  request.segment = victim;
  request.sequence = segment.sequence;
  const auto outcome = co_await scan_segment(&core_, request, &scanned, gc_options());
  if (!outcome) co_return std::unexpected(outcome.error());
  for (const LoggedRecord& record : scanned.records()) {
    entries.push_back({record.id, first + record.page, record.data_bytes, 0});
  }
  *tombstones = scanned.tombstones();
  co_return entries;
}

Task<std::vector<Reclaimer::Entry>> Reclaimer::choose(std::vector<Entry>* entries) {
  std::vector<Entry> chosen;
  std::size_t calls = 0;
  double lost_worth = 0;
  for (Entry& entry : *entries) {
    if (!core_.owner().is_live(entry.id, entry.page)) continue;
    entry.worth = core_.owner().worth(entry.id, entry.page);
    lost_worth += entry.worth * core_.layout().record_pages(entry.data_bytes);
    if (terms_.worth_moving(entry.worth)) chosen.push_back(entry);
    if (++calls % kCallsPerTurn == 0) co_await core_.loop().yield();
  }
  std::ranges::sort(chosen, [](const Entry& a, const Entry& b) {
    return a.worth != b.worth ? a.worth > b.worth : a.page < b.page;
  });
  const double budget = terms_.moved_fraction_max() * core_.layout().segment_pages();
  double pages = 0;
  std::erase_if(chosen, [&](const Entry& entry) {
    const double more = core_.layout().record_pages(entry.data_bytes);
    if (pages + more > budget) return true;
    pages += more;
    lost_worth -= more * entry.worth;
    return false;
  });
  terms_.learn(lost_worth, core_.layout().segment_pages() - pages);
  // In the order of the segment: neighbours are read, and stay, together.
  std::ranges::sort(chosen, {}, &Entry::page);
  co_return chosen;
}

Task<Status> Reclaimer::move(std::vector<Entry> chosen) {
  std::size_t at = 0;
  while (at < chosen.size()) {
    std::uint64_t bytes = 0;
    std::size_t end = at;
    do {
      bytes += chosen[end++].data_bytes;
    } while (end < chosen.size() && bytes + chosen[end].data_bytes <= kBatchBytesMax);
    const Status moved = co_await move_batch(std::span(chosen).subspan(at, end - at));
    // No room for copies: better to lose them than never to free a segment again.
    if (!moved && moved.error().code == Errc::kNoSpace) break;
    if (!moved) co_return moved;
    at = end;
  }
  co_return Status{};
}

Task<Status> Reclaimer::move_batch(std::span<const Entry> entries) {
  auto memory = std::make_shared<MoveMemory>();
  memory->pieces.resize(entries.size());
  std::vector<FlashRead> reads(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    memory->data.push_back(core_.buffers.take(entries[i].data_bytes));
    memory->pieces[i] = {memory->data[i].data(), entries[i].data_bytes};
    FlashRead& read = reads[i];
    read.page = entries[i].page;
    read.id = entries[i].id;
    read.data_bytes = entries[i].data_bytes;
    read.data = {{&memory->pieces[i], 1}, memory};
  }
  co_await reader_.read(reads, gc_call(), &memory->headers);
  Copies copies;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const FlashRead& read = reads[i];
    if (!read.status) continue;  // damaged: it is dropped with the rest
    const auto header = memory->headers[i].bytes();
    RecordPlace place;
    place.uuid = core_.uuid();
    place.page = read.page;
    place.sequence = load_as<RecordHeader>(header).sequence;
    const auto decoded = decode_record_header(header, place);
    if (!decoded) continue;
    FlashAppend& append = copies.appends.emplace_back();
    append.facts = decoded->facts;
    append.facts.heat = core_.owner().heat_of(read.id, read.page);
    append.data = {{&memory->pieces[i], 1}, memory};
    append.data_crc = decoded->place.data_crc;
    copies.from.push_back(read.page);
  }
  AppendExtras extras;
  extras.for_reclaim = true;
  extras.moved_from = copies.from;
  co_await writer_.append(copies.appends, gc_call(), &extras);
  co_return settle_moves(copies);
}

Status Reclaimer::settle_moves(const Copies& copies) {
  Status all;
  for (std::size_t i = 0; i < copies.appends.size(); ++i) {
    const FlashAppend& append = copies.appends[i];
    const BlockId& id = append.facts.id;
    if (!append.status) {
      // kNotFound: no longer wanted by the time it would have moved.
      if (append.status.error().code != Errc::kNotFound) all = append.status;
    } else if (core_.owner().is_live(id, copies.from[i])) {
      core_.owner().on_moved(id, copies.from[i], append.page);
      core_.segments.drop_live(copies.from[i], append.facts.data_bytes);
    } else {
      core_.segments.drop_live(append.page, append.facts.data_bytes);
    }
  }
  return all;
}

Task<Status> Reclaimer::carry(std::vector<Tombstone> tombstones, std::uint32_t victim) {
  // Once no segment is as old as a tombstone, no copy that it kills is left.
  std::uint64_t oldest = core_.segments.next_sequence();
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    const Segment& segment = core_.segments.at(i);
    const bool holds = segment.state != SegmentState::kFree && i != victim;
    if (holds) oldest = std::min(oldest, segment.sequence);
  }
  std::erase_if(tombstones, [oldest](const Tombstone& t) { return t.sequence < oldest; });
  if (tombstones.empty()) co_return Status{};
  co_return co_await tombstones_.carry(std::move(tombstones));
}

Task<void> Reclaimer::drop(std::vector<Entry> entries) {
  std::size_t calls = 0;
  for (const Entry& entry : entries) {
    if (!core_.owner().is_live(entry.id, entry.page)) continue;
    core_.owner().on_dropped(entry.id, entry.page);
    ++core_.counters.dropped_blocks;
    if (++calls % kCallsPerTurn == 0) co_await core_.loop().yield();
  }
}

Task<Status> Reclaimer::free_emptied() {
  std::vector<std::uint32_t> marked;
  for (std::uint32_t i = 0; i < core_.segments.count(); ++i) {
    const Segment& segment = core_.segments.at(i);
    if (segment.state != SegmentState::kEmptied || segment.pins > 0) continue;
    FOREBAY_CO_TRY_STATUS(co_await write_free_mark(&core_, i, segment.sequence, gc_options()));
    marked.push_back(i);
  }
  // The mark is durable before the segment is written again: a crash never shows the old summary
  // over new records.
  FOREBAY_CO_TRY_STATUS(co_await flush_device(&core_, gc_options()));
  for (const std::uint32_t index : marked) core_.segments.set_state(index, SegmentState::kFree);
  writer_.head().changed().notify();
  co_return Status{};
}

void Reclaimer::retire(std::uint32_t victim, const Error& why) {
  log_warn("flash: segment {} is not used again: {}", victim, to_string(why));
  core_.segments.set_state(victim, SegmentState::kRetired);
}

}  // namespace forebay::store

#include "store/tier/flash_summary.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/check.h"
#include "core/crc32c.h"
#include "core/field_reader.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kSummaryMagic = 0x4d55534159424546ULL;  // "FEBYASUM"

void append_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Finds a record's parent among the records that stand, the one just before it first: chains are
// put together.
class ParentFinder {
 public:
  std::uint32_t find(const BlockId& parent, const LoggedRecord* previous,
                     std::uint32_t previous_index) {
    if (parent == kNoParent) return kNoParentRef;
    if (previous != nullptr && previous->id == parent) return previous_index;
    if (const auto at = entries_.find(parent); at != entries_.end()) return at->second;
    const auto next = static_cast<std::uint32_t>(foreign_.size());
    const auto [at, fresh] = foreign_index_.emplace(parent, next);
    if (fresh) foreign_.push_back(parent);
    return kForeignParent | at->second;
  }
  void learn(const BlockId& id, std::uint32_t index) { entries_.insert_or_assign(id, index); }
  [[nodiscard]] const std::vector<BlockId>& foreign() const { return foreign_; }

 private:
  std::unordered_map<BlockId, std::uint32_t> entries_;
  std::unordered_map<BlockId, std::uint32_t> foreign_index_;
  std::vector<BlockId> foreign_;
};

std::uint32_t encode_entries(const SegmentRecords& records, std::uint32_t end_page,
                             ParentFinder& parents, std::vector<std::byte>& out) {
  std::uint32_t count = 0;
  const LoggedRecord* previous = nullptr;
  for (const LoggedRecord& record : records.records()) {
    if (!SegmentRecords::stands(record) || record.page >= end_page) continue;
    SummaryEntry entry;
    entry.id = record.id;
    entry.page = record.page;
    entry.data_bytes = record.data_bytes;
    entry.token_count = record.token_count;
    entry.chain_depth = record.chain_depth;
    entry.heat = record.heat;
    entry.parent = parents.find(record.parent, previous, count - 1);
    entry.space = record.space;
    append_bytes(out, bytes_of(entry));
    parents.learn(record.id, count);
    previous = &record;
    ++count;
  }
  return count;
}

void encode_spaces(const SegmentRecords& records, std::vector<std::byte>& out) {
  for (std::size_t i = 0; i < records.space_count(); ++i) {
    const auto space = static_cast<std::uint16_t>(i);
    const std::string_view tenant = records.tenant(space);
    const std::string_view layout = records.layout_fingerprint(space);
    const std::uint16_t lengths[2] = {static_cast<std::uint16_t>(tenant.size()),
                                      static_cast<std::uint16_t>(layout.size())};
    append_bytes(out, std::as_bytes(std::span(lengths)));
    append_bytes(out, std::as_bytes(std::span(tenant)));
    append_bytes(out, std::as_bytes(std::span(layout)));
  }
}

std::uint64_t body_bytes_of(const SummaryCounts& counts) {
  return std::uint64_t{counts.record_count} * sizeof(SummaryEntry) +
         std::uint64_t{counts.tombstone_count} * sizeof(Tombstone) +
         std::uint64_t{counts.parent_count} * sizeof(BlockId) + counts.space_bytes;
}

}  // namespace

std::uint64_t summary_bytes_max(const SegmentRecords& records) {
  return records.records().size() * (sizeof(SummaryEntry) + sizeof(BlockId)) +
         records.tombstones().size() * sizeof(Tombstone) + records.space_bytes();
}

SummaryCounts encode_summary_body(const SegmentRecords& records, std::uint32_t end_page,
                                  std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  SummaryCounts counts;
  ParentFinder parents;
  counts.record_count = encode_entries(records, end_page, parents, out);
  for (const Tombstone& tombstone : records.tombstones()) append_bytes(out, bytes_of(tombstone));
  counts.tombstone_count = static_cast<std::uint32_t>(records.tombstones().size());
  for (const BlockId& parent : parents.foreign()) append_bytes(out, bytes_of(parent));
  counts.parent_count = static_cast<std::uint32_t>(parents.foreign().size());
  encode_spaces(records, out);
  counts.space_count = static_cast<std::uint32_t>(records.space_count());
  counts.space_bytes = static_cast<std::uint32_t>(records.space_bytes());
  counts.body_bytes = static_cast<std::uint32_t>(out.size() - start);
  counts.body_crc = crc32c(std::span(out).subspan(start));
  FOREBAY_CHECK_EQ(body_bytes_of(counts), std::uint64_t{counts.body_bytes});
  return counts;
}

void encode_summary_footer(SummaryFooter footer, std::span<std::byte> page) {
  std::ranges::fill(page, std::byte{0});
  footer.magic = kSummaryMagic;
  footer.version = kFlashVersion;
  footer.crc = 0;
  footer.crc = crc32c(bytes_of(footer));
  store_as(page, footer);
}

Result<SummaryFooter> decode_summary_footer(std::span<const std::byte> page, const Uuid& uuid,
                                            std::uint32_t index) {
  if (page.size() < sizeof(SummaryFooter)) return fail(Errc::kCorrupt, "summary: short footer");
  auto footer = load_as<SummaryFooter>(page);
  if (footer.magic != kSummaryMagic) return fail(Errc::kCorrupt, "summary: no magic");
  const std::uint32_t said = std::exchange(footer.crc, 0);
  if (crc32c(bytes_of(footer)) != said) return fail(Errc::kCorrupt, "summary: footer checksum");
  if (footer.version != kFlashVersion) return fail(Errc::kVersion, "summary: version");
  if (footer.uuid != uuid) return fail(Errc::kCorrupt, "summary: another store");
  if (footer.index != index) return fail(Errc::kCorrupt, "summary: another place");
  footer.crc = said;
  return footer;
}

bool has_footer_marks(std::span<const std::byte> page, const Uuid& uuid) {
  if (page.size() < sizeof(SummaryFooter)) return false;
  const auto footer = load_as<SummaryFooter>(page);
  return footer.magic == kSummaryMagic || footer.uuid == uuid;
}

Result<SummaryView> SummaryView::parse(const SummaryCounts& counts, std::span<const std::byte> body,
                                       std::uint32_t segment_pages, std::uint32_t page_bytes) {
  if (body.size() < counts.body_bytes || body_bytes_of(counts) != counts.body_bytes ||
      counts.body_bytes / page_bytes > segment_pages || counts.space_count > kSpacesMax) {
    return fail(Errc::kCorrupt, "summary: lengths contradict each other");
  }
  body = body.first(counts.body_bytes);
  if (crc32c(body) != counts.body_crc) return fail(Errc::kCorrupt, "summary: body checksum");
  SummaryView view;
  view.counts_ = counts;
  const auto take = [&body](std::size_t bytes) {
    const auto taken = body.first(bytes);
    body = body.subspan(bytes);
    return taken;
  };
  view.entries_ = take(std::size_t{counts.record_count} * sizeof(SummaryEntry));
  view.tombstones_ = take(std::size_t{counts.tombstone_count} * sizeof(Tombstone));
  view.parents_ = take(std::size_t{counts.parent_count} * sizeof(BlockId));
  FOREBAY_TRY_STATUS(view.parse_spaces(body));
  FOREBAY_TRY_STATUS(view.check_entries(segment_pages, page_bytes));
  return view;
}

Status SummaryView::parse_spaces(std::span<const std::byte> bytes) {
  spaces_.reserve(counts_.space_count);
  FieldReader reader(bytes);
  for (std::uint32_t i = 0; i < counts_.space_count; ++i) {
    std::uint16_t tenant_bytes = 0;
    std::uint16_t layout_bytes = 0;
    if (!reader.take(tenant_bytes) || !reader.take(layout_bytes)) {
      return fail(Errc::kCorrupt, "summary: spaces are cut short");
    }
    std::string_view tenant;
    std::string_view layout;
    if (tenant_bytes > kTenantBytesMax || layout_bytes > kLayoutBytesMax ||
        !reader.take_text(tenant_bytes, tenant) || !reader.take_text(layout_bytes, layout)) {
      return fail(Errc::kCorrupt, "summary: a name does not fit");
    }
    spaces_.push_back({tenant, layout});
  }
  return reader.at_end() ? Status{} : fail(Errc::kCorrupt, "summary: bytes after the spaces");
}

Status SummaryView::check_entries(std::uint32_t segment_pages, std::uint32_t page_bytes) const {
  std::uint64_t free_page = 1;  // entries stand in the order of the log and never overlap
  for (std::uint32_t i = 0; i < counts_.record_count; ++i) {
    const SummaryEntry at = entry(i);
    const std::uint64_t end = at.page + 1 + divide_up(at.data_bytes, page_bytes);
    if (at.page < free_page || end > segment_pages) {
      return fail(Errc::kCorrupt, "summary: an entry is out of place");
    }
    free_page = end;
    const bool foreign = at.parent != kNoParentRef && (at.parent & kForeignParent) != 0;
    const bool parent_holds =
        at.parent == kNoParentRef ||
        (foreign ? (at.parent & ~kForeignParent) < counts_.parent_count : at.parent < i);
    if (!parent_holds || at.space >= counts_.space_count) {
      return fail(Errc::kCorrupt, "summary: an entry names what is not there");
    }
  }
  return {};
}

RecordFacts SummaryView::facts(const SummaryEntry& entry) const {
  RecordFacts facts;
  facts.id = entry.id;
  if (entry.parent == kNoParentRef) {
    facts.parent = kNoParent;
  } else if ((entry.parent & kForeignParent) != 0) {
    const std::size_t at = std::size_t{entry.parent & ~kForeignParent} * sizeof(BlockId);
    facts.parent = load_as<BlockId>(parents_.subspan(at));
  } else {
    facts.parent = this->entry(entry.parent).id;
  }
  facts.tenant = spaces_[entry.space].tenant;
  facts.layout_fingerprint = spaces_[entry.space].layout_fingerprint;
  facts.data_bytes = entry.data_bytes;
  facts.token_count = entry.token_count;
  facts.chain_depth = entry.chain_depth;
  facts.heat = entry.heat;
  return facts;
}

}  // namespace forebay::store

// The parsers of the flash tier on any bytes: records, segment headers, summaries, checkpoints.
//
// The first byte picks the parser; its high bit makes the harness put right CRCs first, so that the
// checks behind them are reached as well.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/crc32c.h"
#include "store/tier/flash_checkpoint_format.h"
#include "store/tier/flash_summary.h"
#include "store/tier/flash_walk.h"

namespace forebay::store {
namespace {

constexpr std::uint32_t kPageBytes = 4096;
constexpr FlashPage kSegmentPage = 100;

template <class T>
void seal(std::span<std::byte> bytes) {
  if (bytes.size() < sizeof(T)) return;
  auto value = load_as<T>(bytes);
  value.crc = 0;
  value.crc = crc32c(bytes_of(value));
  store_as(bytes, value);
}

void seal_record(std::span<std::byte> page) {
  auto header = load_as<RecordHeader>(page);
  header.header_bytes = std::min<std::uint32_t>(header.header_bytes, kPageBytes);
  if (header.header_bytes < sizeof header) return;
  header.header_crc = 0;
  store_as(page, header);
  const std::uint32_t crc = crc32c(page.first(header.header_bytes));
  store_as(page.subspan(offsetof(RecordHeader, header_crc)), crc);
}

// What any accepted record promises its reader.
void use(const DecodedRecord& record) {
  volatile std::size_t sum = record.facts.tenant.size() + record.facts.layout_fingerprint.size();
  for (const char c : record.facts.tenant) sum = sum + static_cast<std::size_t>(c);
  for (const std::byte b : record.facts.engine_key) sum = sum + std::to_integer<std::size_t>(b);
}

void fuzz_summary(std::span<std::byte> bytes, bool sealed) {
  if (bytes.size() < sizeof(SummaryCounts)) return;
  auto counts = load_as<SummaryCounts>(bytes);
  const auto body = bytes.subspan(sizeof counts);
  if (sealed) {
    counts.body_bytes = static_cast<std::uint32_t>(body.size());
    counts.body_crc = crc32c(body);
    counts.space_bytes = static_cast<std::uint32_t>(
        body.size() - std::min<std::size_t>(body.size(), counts.record_count * 60ULL +
                                                             counts.tombstone_count * 48ULL +
                                                             counts.parent_count * 32ULL));
  }
  const auto view = SummaryView::parse(counts, body, 512, kPageBytes);
  if (!view) return;
  for (std::uint32_t i = 0; i < view->record_count(); ++i) {
    DecodedRecord record;
    record.facts = view->facts(view->entry(i));
    use(record);
  }
  for (std::uint32_t i = 0; i < view->tombstone_count(); ++i) (void)view->tombstone(i);
}

void fuzz_walk(std::span<std::byte> bytes, bool sealed) {
  bytes = bytes.first(round_down(bytes.size(), kPageBytes));
  if (sealed) {
    for (std::size_t at = 0; at < bytes.size(); at += kPageBytes) {
      seal_record(bytes.subspan(at, kPageBytes));
    }
  }
  SegmentWalker::Start start;
  start.segment_page = kSegmentPage;
  start.segment_pages = static_cast<std::uint32_t>(1 + bytes.size() / kPageBytes);
  start.page_bytes = kPageBytes;
  SegmentWalker walker(start, [](const SegmentWalker::Seen& seen) { use(seen.record); });
  walker.feed(bytes);
}

void run_one(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto first = std::to_integer<std::uint8_t>(input[0]);
  const std::uint8_t choice = first & 0x7fU;
  const bool sealed = (first & 0x80U) != 0;
  std::vector<std::byte> bytes(input.begin() + 1, input.end());
  if (choice >= 6) {
    bytes.resize(round_up(std::max<std::size_t>(bytes.size(), 1), kPageBytes));
    fuzz_walk(bytes, sealed);
    return;
  }
  if (choice == 5) {
    fuzz_summary(bytes, sealed);
    return;
  }
  bytes.resize(std::max<std::size_t>(bytes.size(), kPageBytes));
  const std::span<std::byte> page(bytes);
  switch (choice) {
    case 0: {
      if (sealed) seal_record(page);
      RecordPlace expected;
      const auto header = load_as<RecordHeader>(page);
      expected.uuid = header.uuid;
      expected.sequence = header.sequence;
      expected.page = header.page;
      if (const auto record = decode_record_header(page, expected)) use(*record);
      break;
    }
    case 1:
      if (sealed) seal<Superblock>(page);
      (void)decode_superblock(page);
      break;
    case 2:
      if (sealed) seal<SegmentHeader>(page);
      (void)decode_segment_header(page, load_as<SegmentHeader>(page).uuid, 0);
      break;
    case 3:
      if (sealed) seal<CheckpointHeader>(page);
      (void)decode_checkpoint(page, load_as<CheckpointHeader>(page).uuid, 0);
      break;
    default: {
      HeatSlotHeader expected = load_as<HeatSlotHeader>(page);
      if (const auto words = decode_heat_slot(page, expected)) {
        std::uint32_t last = 0;
        for (std::size_t i = 0; i + 4 <= words->size(); i += 4) {
          last ^= load_as<std::uint32_t>(words->subspan(i));
        }
        [[maybe_unused]] const volatile std::uint32_t used = last;
      }
      break;
    }
  }
}

}  // namespace
}  // namespace forebay::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forebay::store::run_one(std::as_bytes(std::span(data, size)));
  return 0;
}

#include "store/tier/flash_superblock.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/bytes.h"
#include "store/tier/flash_scan.h"

namespace forebay::store {
namespace {

constexpr std::size_t kFormatWidth = 32;

struct Collected {
  std::optional<SuperblockFacts> good;
  SuperblockDamage damage;
  Error worst = Error(Errc::kNotFound, "flash: no store on this device");
};

void collect(Collected& all, std::size_t at, const Result<SuperblockFacts>& copy) {
  if (!copy) {
    all.damage[at] = copy.error();
    if (copy.error().code != Errc::kNotFound) all.worst = copy.error();
    return;
  }
  // Two good copies of two stores: the first one, at offset 0, is written first at format.
  if (!all.good) all.good = *copy;
  if (copy->uuid != all.good->uuid) {
    all.damage[at] = Error(Errc::kCorrupt, "superblock: of another store");
  }
}

}  // namespace

Task<Result<FoundSuperblock>> find_superblock(FlashCore* core, RangeOptions options) {
  Collected all;
  const std::size_t bytes = round_up(kPageBytesMin, core->align_bytes());
  std::optional<Error> unreadable;
  for (std::size_t at = 0; at < all.damage.size(); ++at) {
    const auto page =
        co_await read_range(core, kSuperblockOffsets[at], core->buffers.take(bytes), options);
    if (page) {
      collect(all, at, decode_superblock(page->bytes()));
    } else {
      all.damage[at] = unreadable = page.error();
    }
  }
  if (!all.good) co_return std::unexpected(unreadable ? *unreadable : all.worst);
  if (all.good->layout.device_bytes > core->device().geometry().size_bytes) {
    co_return fail(Errc::kCorrupt, "flash: the store was made on a larger device");
  }
  if (all.good->layout.page_bytes % core->align_bytes() != 0) {
    co_return fail(Errc::kUnsupported, "flash: the device's alignment is larger than a page");
  }
  FlashLayout& layout = all.good->layout;
  const std::uint64_t end = layout.offset_of(layout.kept_page(0)) +
                            std::uint64_t{2} * layout.kept_pages * layout.page_bytes;
  if (end > core->device().geometry().size_bytes) layout.kept_pages = 0;
  co_return FoundSuperblock{*all.good, all.damage};
}

Task<Status> write_superblock(FlashCore* core, std::uint32_t copy, RangeOptions options) {
  IoBuffer page = core->buffers.take(round_up(kPageBytesMin, core->align_bytes()));
  encode_superblock(core->layout(), core->uuid(), copy, page.bytes());
  const auto written =
      co_await write_range(core, kSuperblockOffsets[copy], std::move(page), options);
  if (!written) co_return std::unexpected(written.error());
  co_return Status{};
}

Task<Status> write_superblocks(FlashCore* core, RangeOptions options) {
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    FOREBAY_CO_TRY_STATUS(co_await write_superblock(core, copy, options));
    FOREBAY_CO_TRY_STATUS(co_await flush_device(core, options));
  }
  co_return Status{};
}

Task<Status> write_free_mark(FlashCore* core, std::uint32_t segment, std::uint64_t sequence,
                             RangeOptions options) {
  SegmentHeader header;
  header.index = segment;
  header.uuid = core->uuid();
  header.sequence = sequence;
  header.mark = SegmentMark::kFree;
  IoBuffer page = core->buffers.page();
  encode_segment_header(header, page.bytes());
  const std::uint64_t offset = core->layout().offset_of(core->layout().segment_page(segment));
  const auto written = co_await write_range(core, offset, std::move(page), options);
  if (!written) co_return std::unexpected(written.error());
  co_return Status{};
}

namespace {

Task<void> mark_into(FlashCore* core, std::uint32_t segment, RangeOptions options, Status* all) {
  const Status marked = co_await write_free_mark(core, segment, 0, options);
  if (!marked) *all = marked;
}

}  // namespace

Task<Status> format_device(FlashCore* core, RangeOptions options) {
  Status all;
  co_await for_each_ahead(core->layout().segment_count, kFormatWidth,
                          [core, options, &all](std::uint32_t segment) {
                            return mark_into(core, segment, options, &all);
                          });
  if (!all) co_return all;
  FOREBAY_CO_TRY_STATUS(co_await flush_device(core, options));
  co_return co_await write_superblocks(core, options);
}

}  // namespace forebay::store

#include "store/tier/flash_summary_load.h"

#include <utility>

#include "core/bytes.h"

namespace forebay::store {

Task<Result<LoadedSummary>> load_summary(FlashCore* core, std::uint32_t segment,
                                         RangeOptions options) {
  const FlashLayout& layout = core->layout();
  const SummaryCounts counts = core->segments.at(segment).counts;
  const std::uint32_t body_page = core->segments.at(segment).body_page;
  const std::uint64_t body_end = body_page + divide_up(counts.body_bytes, layout.page_bytes);
  if (body_page < 1 || body_end != layout.segment_pages() - 1) {
    co_return fail(Errc::kCorrupt, "summary: the footer points outside the segment");
  }
  LoadedSummary loaded;
  if (counts.body_bytes > 0) {
    const FlashPage page = layout.segment_page(segment) + body_page;
    FOREBAY_CO_TRY(body, co_await read_range(core, layout.offset_of(page),
                                             core->buffers.take(counts.body_bytes), options));
    loaded.body = std::move(body);
  }
  FOREBAY_CO_TRY(view, SummaryView::parse(counts, loaded.body.bytes(), layout.segment_pages(),
                                          layout.page_bytes));
  loaded.view = std::move(view);
  co_return loaded;
}

}  // namespace forebay::store

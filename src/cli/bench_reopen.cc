// Reopening 10 TB of 256 KiB blocks: the whole store over a device that exists only as arithmetic.
// Superblock, segment headers, footers, summaries and heat slots are made when they are read.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "cli/bench_rig.h"
#include "cli/bench_store.h"
#include "core/crc32c.h"
#include "core/rng.h"
#include "store/tier/flash_checkpoint_format.h"

// The device speaks the flash format, so it stands where the format's names are.
namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 10'000'000'000'000;
constexpr std::uint32_t kBlockBytes = 256 << 10;

class ArithmeticDevice final : public block::Device {
 public:
  explicit ArithmeticDevice(io::Loop& loop) : loop_(loop) {
    geometry_.size_bytes = kDeviceBytes;
    geometry_.align_bytes = 4096;
    geometry_.transfer_bytes_max = 1 << 20;
    geometry_.direct = true;
    layout_ = make_flash_layout(geometry_, 0).value();
    uuid_[0] = std::byte{42};
    prepare_template();
  }
  [[nodiscard]] const block::Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override { return "arithmetic"; }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void cancel(block::Request&) override {}
  void submit(block::Request& request) override {
    const Nanos began = thread_cpu_time();
    std::uint64_t offset = request.offset_bytes;
    if (request.kind == block::RequestKind::kRead) {
      for (const iovec& piece : request.buffers) {
        fill(offset, {static_cast<std::byte*>(piece.iov_base), piece.iov_len});
        offset += piece.iov_len;
      }
    }
    making += thread_cpu_time() - began;
    ++requests;
    request.done_bytes = request.length_bytes;
    done_.push_back(&request);
    if (!timer_.armed()) {
      loop_.arm(timer_, loop_.now(), [this] { complete(); });
    }
  }

  [[nodiscard]] std::uint64_t record_count() const {
    return std::uint64_t{records_per_segment_} * (layout_.segment_count - 1);
  }
  Nanos making{0};
  std::uint64_t requests = 0;

 private:
  void complete() {
    std::vector<block::Request*> done;
    done.swap(done_);
    for (block::Request* request : done) request->on_done(*request);
  }

  // Every segment holds the same summary but for the blocks' ids.
  void prepare_template() {
    const std::uint32_t pages = layout_.record_pages(kBlockBytes);
    records_per_segment_ = (layout_.segment_pages() - 160) / pages;
    SegmentRecords records;
    for (std::uint32_t i = 0; i < records_per_segment_; ++i) {
      RecordFacts facts;
      facts.id = id_of(0, i);
      facts.parent = i % 32 == 0 ? kNoParent : id_of(0, i - 1);
      facts.tenant = "tenant";
      facts.layout_fingerprint = "llama-70b/bf16/tp8/16";
      facts.data_bytes = kBlockBytes;
      facts.token_count = 16;
      facts.chain_depth = i % 32;
      records.add(facts, 1 + i * pages, RecordState::kGood);
    }
    counts_ = encode_summary_body(records, layout_.segment_pages(), body_);
    data_end_page_ = 1 + records_per_segment_ * pages;
    crcs_.resize(layout_.segment_count);
    std::vector<std::byte> body(body_.size());
    for (std::uint32_t s = 0; s < layout_.segment_count; ++s) {
      make_body(s, body);
      crcs_[s] = crc32c(body);
    }
  }
  static BlockId id_of(std::uint32_t segment, std::uint32_t i) {
    BlockId id;
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::uint64_t word = mix64((std::uint64_t{segment} << 32 | i) * 4 + k);
      std::memcpy(id.digest.data() + k * 8, &word, 8);
    }
    return id;
  }
  void make_body(std::uint32_t segment, std::span<std::byte> body) const {
    std::ranges::copy(body_, body.begin());
    for (std::uint32_t i = 0; i < records_per_segment_; ++i) {
      store_as(body.subspan(i * sizeof(SummaryEntry)), id_of(segment, i));
    }
  }

  void fill(std::uint64_t offset, std::span<std::byte> bytes) {
    std::ranges::fill(bytes, std::byte{0});
    const auto page = static_cast<FlashPage>(offset / layout_.page_bytes);
    if (offset < kSuperblockAreaBytes) {
      encode_superblock(layout_, uuid_, offset == 0 ? 0 : 1, bytes);
    } else if (page < layout_.segments_page) {
      fill_area(page, bytes);
    } else {
      fill_segment(page, bytes);
    }
  }
  void fill_area(FlashPage page, std::span<std::byte> bytes) {
    if (page == layout_.area_page(1)) {
      CheckpointHeader header;
      header.area = 1;
      header.uuid = uuid_;
      header.checkpoint_sequence = 1;
      return encode_checkpoint(header, bytes);
    }
    const FlashPage first = layout_.slot_page(1, 0);
    if (page < first || (page - first) % layout_.slot_pages != 0) return;
    HeatSlotHeader header;
    header.uuid = uuid_;
    header.index = (page - first) / layout_.slot_pages;
    header.sequence = header.index + 1;
    header.word_count = records_per_segment_;
    encode_heat_slot(header, bytes);
  }
  void fill_segment(FlashPage page, std::span<std::byte> bytes) {
    const std::uint32_t segment = layout_.segment_of(page);
    const std::uint32_t at = page - layout_.segment_page(segment);
    const auto body_pages = static_cast<std::uint32_t>(divide_up(body_.size(), layout_.page_bytes));
    const std::uint32_t body_page = layout_.segment_pages() - 1 - body_pages;
    if (at == 0) {
      SegmentHeader header;
      header.index = segment;
      header.uuid = uuid_;
      header.sequence = segment + 1;
      // One segment is free, so that nothing need be reclaimed.
      header.mark = segment == 0 ? SegmentMark::kFree : SegmentMark::kOpen;
      encode_segment_header(header, bytes);
    } else if (at == layout_.segment_pages() - 1) {
      SummaryFooter footer;
      footer.index = segment;
      footer.uuid = uuid_;
      footer.sequence = segment + 1;
      footer.counts = counts_;
      footer.counts.body_crc = crcs_[segment];
      footer.body_page = body_page;
      footer.data_end_page = data_end_page_;
      encode_summary_footer(footer, bytes);
    } else if (at == body_page) {
      whole_.resize(body_.size());
      make_body(segment, whole_);
      whole_segment_ = segment;
      copy_body(0, bytes);
    } else if (at > body_page && whole_segment_ == segment) {
      copy_body(std::size_t{at - body_page} * layout_.page_bytes, bytes);
    }
  }
  void copy_body(std::size_t from, std::span<std::byte> bytes) const {
    const auto part = std::span(whole_).subspan(from);
    std::ranges::copy(part.first(std::min(part.size(), bytes.size())), bytes.begin());
  }

  io::Loop& loop_;
  block::Geometry geometry_;
  FlashLayout layout_;
  Uuid uuid_{};
  SummaryCounts counts_;
  std::vector<std::byte> body_;
  std::vector<std::byte> whole_;
  std::optional<std::uint32_t> whole_segment_;
  std::vector<std::uint32_t> crcs_;
  std::uint32_t records_per_segment_ = 0;
  std::uint32_t data_end_page_ = 0;
  std::vector<block::Request*> done_;
  io::Loop::Timer timer_;
};

}  // namespace
}  // namespace forebay::store

namespace forebay::cli {
namespace {

constexpr double kReopenBarSeconds = 10;
constexpr double kBytesPerBlockBar = 64;

double seconds_of(Nanos span) { return std::chrono::duration<double>(span).count(); }

struct ReopenRound {
  double seconds = 0;         // without the making of the bytes
  double making_seconds = 0;  // what a real device would have done
  double bytes_per_block = 0;
  std::uint64_t blocks = 0;
};

Result<ReopenRound> reopen_once() {
  FOREBAY_TRY(engine, io::make_engine(io::EngineChoice::kAuto));
  io::Loop loop(*engine);
  store::ArithmeticDevice device(loop);
  store::StoreOptions options;
  options.flash = &device;
  const Nanos start = loop.now();
  FOREBAY_TRY(opened, loop.run(store::Store::open(&loop, std::move(options))));
  ReopenRound round;
  round.making_seconds = seconds_of(device.making);
  round.seconds = seconds_of(loop.now() - start) - round.making_seconds;
  const store::StoreStats stats = opened->stats();
  round.blocks = stats.tiers[static_cast<std::size_t>(store::Tier::kFlash)].block_count;
  if (round.blocks != device.record_count()) return fail(Errc::kCorrupt, "reopen 10 TB");
  round.bytes_per_block =
      static_cast<double>(stats.index_bytes) / static_cast<double>(round.blocks);
  return round;
}

}  // namespace

Result<std::vector<BenchRow>> bench_reopen(const StoreBench& bench) {
  std::vector<double> seconds;
  std::vector<double> bytes_per_block;
  ReopenRound round;
  for (std::size_t i = 0; i < bench.rounds; ++i) {
    FOREBAY_TRY(once, reopen_once());
    round = once;
    seconds.push_back(round.seconds);
    bytes_per_block.push_back(round.bytes_per_block);
  }
  auto row = row_of("reopen", "s", seconds);
  row.bar = Bar::kAtMost;
  row.bar_value = kReopenBarSeconds;
  row.reference = fmt::format(
      "10 TB, {} blocks of 256 KiB, on an arithmetic device; making the bytes took {:.1f} s more",
      round.blocks, round.making_seconds);
  auto memory = row_of("reopen-bytes", "bytes_per_block", bytes_per_block);
  memory.bar = Bar::kAtMost;
  memory.bar_value = kBytesPerBlockBar;
  memory.reference = "index, policy and hash slots after reopening";
  return std::vector{row, memory};
}

}  // namespace forebay::cli

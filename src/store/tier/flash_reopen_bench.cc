// Opens a flash tier of 10 TB, filled with blocks of 256 KiB, on a device that exists only as
// arithmetic: superblock, segment headers, footers, summaries and heat slots are made when they are
// read. Prints the seconds, and how many of them went into making the bytes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/bytes.h"
#include "core/crc32c.h"
#include "core/rng.h"
#include "io/engine.h"
#include "store/tier/flash.h"
#include "store/tier/flash_checkpoint_format.h"

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

class CountingOwner final : public FlashOwner {
 public:
  void on_recovered(const RecordFacts&, FlashPage) override { ++records; }
  void on_recovered_batch(std::span<const RecoveredRecord> batch) override {
    for (const RecoveredRecord& record : batch) {
      check ^= record.facts.id.word() + record.page;
      ++records;
    }
  }
  bool is_live(const BlockId&, FlashPage) override { return true; }
  double worth(const BlockId&, FlashPage) override { return 1; }
  void on_moved(const BlockId&, FlashPage, FlashPage) override {}
  void on_dropped(const BlockId&, FlashPage) override {}
  std::uint32_t heat_of(const BlockId&, FlashPage) override { return 0; }
  std::uint64_t records = 0;
  std::uint64_t check = 0;
};

void reopen_10_tb(benchmark::State& state) {
  auto engine = io::make_engine(io::EngineChoice::kAuto).value();
  io::Loop loop(*engine);
  ArithmeticDevice device(loop);
  for (auto _ : state) {
    CountingOwner owner;
    device.making = Nanos{0};
    device.requests = 0;
    auto tier = loop.run(FlashTier::open(&device, &owner, {}));
    if (!tier || owner.records != device.record_count()) state.SkipWithError("records are missing");
    state.counters["records"] = static_cast<double>(owner.records);
    state.counters["making_s"] = static_cast<double>(device.making.count()) / 1e9;
    state.counters["requests"] = static_cast<double>(device.requests);
    benchmark::DoNotOptimize(owner.check);
  }
}
BENCHMARK(reopen_10_tb)->UseRealTime()->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace forebay::store

// A whole device of any bytes: open, read, verify, append, forget, checkpoint, close.
//
// The input patches a good image: (page, offset, length, bytes) one after another. The first byte's
// low bit makes the harness put right the CRCs of every structure on the device afterwards, so that
// lies which check out are tried too; the next bit has the device filled until it reclaims.
// Requests complete at once, inside submit().
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "core/check.h"
#include "core/crc32c.h"
#include "core/log.h"
#include "io/sim.h"
#include "store/tier/flash_checkpoint_format.h"
#include "store/tier/flash_kept_format.h"
#include "store/tier/flash_summary.h"

namespace forebay::store {
namespace {

constexpr std::size_t kDeviceBytes = 1 << 20;
constexpr std::size_t kPageBytes = 4096;

class BytesDevice final : public block::Device {
 public:
  BytesDevice(io::Loop& loop, std::vector<std::byte>& bytes) : loop_(loop), bytes_(bytes) {
    geometry_.size_bytes = bytes.size();
    geometry_.transfer_bytes_max = 128 << 10;
  }
  [[nodiscard]] const block::Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override { return "bytes"; }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void cancel(block::Request&) override {}
  void submit(block::Request& request) override {
    std::uint64_t at = request.offset_bytes;
    FOREBAY_CHECK_LE(at + block::total_bytes(request.buffers), bytes_.size());
    for (const iovec& piece : request.buffers) {
      if (request.kind == block::RequestKind::kRead) {
        std::memcpy(piece.iov_base, bytes_.data() + at, piece.iov_len);
      } else {
        std::memcpy(bytes_.data() + at, piece.iov_base, piece.iov_len);
      }
      at += piece.iov_len;
    }
    request.done_bytes = block::total_bytes(request.buffers);
    request.on_done(request);
  }

 private:
  io::Loop& loop_;
  std::vector<std::byte>& bytes_;
  block::Geometry geometry_;
};

class FuzzOwner final : public FlashOwner {
 public:
  struct Known {
    FlashPage page;
    std::uint32_t data_bytes;
  };
  void on_recovered(const RecordFacts& facts, FlashPage page) override {
    known[facts.id] = {page, facts.data_bytes};
  }
  bool is_live(const BlockId& id, FlashPage page) override {
    const auto at = known.find(id);
    return at != known.end() && at->second.page == page;
  }
  double worth(const BlockId& id, FlashPage) override { return static_cast<double>(id.word() % 7); }
  void on_moved(const BlockId& id, FlashPage from, FlashPage to) override {
    if (is_live(id, from)) known[id].page = to;
  }
  void on_dropped(const BlockId& id, FlashPage page) override {
    if (is_live(id, page)) known.erase(id);
  }
  std::uint32_t heat_of(const BlockId&, FlashPage) override { return 3; }
  void on_kept(std::span<const std::byte> bytes) override {
    kept.assign(bytes.begin(), bytes.end());
  }
  std::vector<std::byte> kept;
  std::map<BlockId, Known> known;
};

struct World {
  explicit World(std::vector<std::byte>& bytes) : loop(engine), device(loop, bytes) {}
  io::SimEngine engine{io::SimOptions{}};
  io::Loop loop;
  BytesDevice device;
  FuzzOwner owner;
};

void append(World& world, FlashTier& tier, std::uint64_t number, std::uint32_t data_bytes) {
  std::vector<std::byte> data(data_bytes, static_cast<std::byte>(number));
  iovec piece{data.data(), data.size()};
  FlashAppend item;
  item.facts.id = make_block_id({"t", "l"}, bytes_of(number));
  item.facts.parent = make_block_id({"t", "l"}, bytes_of(number - 1));
  item.facts.tenant = "t";
  item.facts.layout_fingerprint = "l";
  item.facts.data_bytes = data_bytes;
  item.data.pieces = {&piece, 1};
  world.loop.run(tier.append({&item, 1}, {}));
  if (item.status) world.owner.on_recovered(item.facts, item.page);
}

void forget(World& world, FlashTier& tier, bool durable) {
  if (world.owner.known.empty()) return;
  const auto [id, known] = *world.owner.known.begin();
  world.owner.known.erase(id);
  (void)world.loop.run(tier.forget(id, known.page, known.data_bytes, durable));
}

std::vector<std::byte> good_image() {
  std::vector<std::byte> bytes(kDeviceBytes);
  World world(bytes);
  FlashOptions options;
  options.format = true;
  options.seed = 7;
  auto tier = world.loop.run(FlashTier::open(&world.device, &world.owner, options)).value();
  for (std::uint64_t n = 1; n <= 12; ++n)
    append(world, *tier, n, static_cast<std::uint32_t>(n * 1500));
  forget(world, *tier, true);
  (void)world.loop.run(tier->checkpoint());
  for (const char word : {'a', 'b'}) {
    const std::vector<std::byte> kept(100, static_cast<std::byte>(word));
    FOREBAY_CHECK(world.loop.run(tier->keep(kept, {})).has_value());
  }
  for (std::uint64_t n = 20; n <= 23; ++n) append(world, *tier, n, 3000);
  return bytes;
}

template <class T>
void seal(std::span<std::byte> page) {
  auto value = load_as<T>(page);
  value.crc = 0;
  value.crc = crc32c(bytes_of(value));
  store_as(page, value);
}

// Every page is given the CRC of what its magic says it is.
void seal_all(std::span<std::byte> bytes, std::span<const std::byte> good) {
  for (std::size_t at = 0; at + kPageBytes <= bytes.size(); at += kPageBytes) {
    const auto page = bytes.subspan(at, kPageBytes);
    if (std::memcmp(page.data(), good.data() + at, kPageBytes) == 0) continue;
    const auto magic = load_as<std::uint64_t>(page);
    constexpr std::uint64_t kMagics[] = {0x534c464159424546ULL, 0x4745534159424546ULL,
                                         0x4d55534159424546ULL, 0x504b434159424546ULL,
                                         0x5045454b59424546ULL};
    if (magic == kMagics[0]) seal<Superblock>(page);
    if (magic == kMagics[1]) seal<SegmentHeader>(page);
    if (magic == kMagics[3]) seal<CheckpointHeader>(page);
    if (magic == kMagics[4]) {
      auto kept = load_as<KeptHeader>(page);
      const auto body = bytes.subspan(at + sizeof kept);
      if (kept.body_bytes <= body.size()) kept.body_crc = crc32c(body.first(kept.body_bytes));
      store_as(page, kept);
      seal<KeptHeader>(page);
    }
    if (magic == kMagics[2]) {
      auto footer = load_as<SummaryFooter>(page);
      const std::size_t body = footer.body_page * kPageBytes;
      const std::size_t segment = at + kPageBytes - (64 << 10);
      if (segment < bytes.size() && body < (64 << 10) &&
          footer.counts.body_bytes <= (64 << 10) - body) {
        footer.counts.body_crc = crc32c(bytes.subspan(segment + body, footer.counts.body_bytes));
        store_as(page, footer);
      }
      seal<SummaryFooter>(page);
    }
    auto record = load_as<RecordHeader>(page);
    if (record.magic == 0x43455246 && record.header_bytes >= sizeof record &&
        record.header_bytes <= kPageBytes) {
      const std::size_t room = bytes.size() - at - kPageBytes;
      if (record.data_bytes <= room) {
        record.data_crc = crc32c(bytes.subspan(at + kPageBytes, record.data_bytes));
      }
      record.header_crc = 0;
      store_as(page, record);
      const std::uint32_t crc = crc32c(page.first(record.header_bytes));
      store_as(page.subspan(offsetof(RecordHeader, header_crc)), crc);
    }
  }
}

void patch(std::span<std::byte> bytes, std::span<const std::byte> input) {
  while (input.size() >= 5) {
    const std::size_t page = load_as<std::uint16_t>(input) % (bytes.size() / kPageBytes);
    const std::size_t offset = load_as<std::uint16_t>(input.subspan(2)) % kPageBytes;
    std::size_t length = std::to_integer<std::size_t>(input[4]);
    input = input.subspan(5);
    length = std::min({length, input.size(), kPageBytes - offset});
    std::ranges::copy(input.first(length), bytes.subspan(page * kPageBytes + offset).begin());
    input = input.subspan(length);
  }
}

void exercise(std::vector<std::byte>& bytes, bool fill) {
  World world(bytes);
  FlashOptions options;
  options.seed = 7;
  auto opened = world.loop.run(FlashTier::open(&world.device, &world.owner, options));
  if (!opened) return;
  FlashTier& tier = **opened;
  for (const auto& [id, known] : std::map(world.owner.known)) {
    std::vector<std::byte> data(std::min<std::uint32_t>(known.data_bytes, 1 << 20));
    iovec piece{data.data(), data.size()};
    FlashRead item;
    item.page = known.page;
    item.id = id;
    item.data_bytes = known.data_bytes;
    item.data.pieces = {&piece, 1};
    world.loop.run(tier.read({&item, 1}, {}));
  }
  (void)world.loop.run(tier.verify(10, {}));
  // Enough to make it reclaim what the image holds.
  for (std::uint64_t n = 100; n < (fill ? 136U : 104U); ++n) append(world, tier, n, 20'000);
  forget(world, tier, true);
  (void)world.loop.run(tier.checkpoint());
  const std::vector<std::byte> kept(50, std::byte{'c'});
  const bool keeps = world.loop.run(tier.keep(kept, {})).has_value();
  (void)world.loop.run(tier.close());
  opened->reset();
  // What is there now must open again.
  FuzzOwner again;
  auto reopened = world.loop.run(FlashTier::open(&world.device, &again, options));
  FOREBAY_CHECK(reopened.has_value());
  FOREBAY_CHECK(!keeps || again.kept == kept);
}

void run_one(std::span<const std::byte> input) {
  static const bool quiet = [] {
    set_log_level(LogLevel::kOff);
    return true;
  }();
  static const std::vector<std::byte> good = good_image();
  if (!quiet || input.empty()) return;
  const auto flags = std::to_integer<std::uint8_t>(input[0]);
  std::vector<std::byte> bytes = good;
  patch(bytes, input.subspan(1));
  if ((flags & 1U) != 0) seal_all(bytes, good);
  exercise(bytes, (flags & 2U) != 0);
}

}  // namespace
}  // namespace forebay::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forebay::store::run_one(std::as_bytes(std::span(data, size)));
  return 0;
}

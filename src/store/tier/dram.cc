#include "store/tier/dram.h"

#include <utility>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kPagesMax = 0xfffffffe;

}  // namespace

Result<std::unique_ptr<DramTier>> DramTier::make(std::uint64_t capacity_bytes, Pages pages) {
  const std::uint64_t bytes = round_down(capacity_bytes, kPageBytes);
  if (bytes == 0 || bytes / kPageBytes > kPagesMax) return fail(Errc::kInvalid, "DRAM tier size");
  FOREBAY_TRY(arena, io::HugeMemory::map_on_demand(bytes));
  if (pages == Pages::kAtOnce) FOREBAY_TRY_STATUS(arena.populate());
  return std::unique_ptr<DramTier>(new DramTier(std::move(arena)));
}

DramTier::DramTier(io::HugeMemory arena)
    : arena_(std::move(arena)),
      extents_(static_cast<std::uint32_t>(arena_.bytes().size() / kPageBytes)) {}

DramTier::~DramTier() = default;

std::uint64_t DramTier::footprint_bytes(std::uint32_t data_bytes) {
  return round_up(data_bytes, kPageBytes);
}

DramBlock DramTier::allocate(std::uint32_t data_bytes) {
  FOREBAY_CHECK(data_bytes > 0);
  const auto pages = static_cast<std::uint32_t>(divide_up(data_bytes, kPageBytes));
  const DramBlock block = extents_.allocate(pages);
  if (block == kNoExtent) return kNoDramBlock;
  if (block >= headers_.size()) headers_.resize(block + 1);
  DramHeader& header = headers_[block];
  const std::uint32_t generation = header.generation + 1;
  header = DramHeader{};
  header.generation = generation;
  header.data_bytes = data_bytes;
  header.state = DramState::kFilling;
  ++block_count_;
  return block;
}

void DramTier::drop(DramBlock block) {
  DramHeader& header = headers_[block];
  FOREBAY_CHECK(header.state != DramState::kFree && !header.dropped);
  header.dropped = true;
  if (header.pin_count == 0) free(block);
}

void DramTier::free(DramBlock block) {
  DramHeader& header = headers_[block];
  header.state = DramState::kFree;
  header.engine_key.reset();
  extents_.free(block);
  --block_count_;
}

std::span<std::byte> DramTier::bytes(DramBlock block) const {
  return {arena_.bytes().data() + std::size_t{extents_.first_page(block)} * kPageBytes,
          headers_[block].data_bytes};
}

std::uint64_t DramTier::memory_bytes() const {
  std::uint64_t bytes = headers_.capacity() * sizeof(DramHeader) + extents_.memory_bytes();
  for (const DramHeader& header : headers_) bytes += header.engine_key_bytes;
  return bytes;
}

DramTier::Pin::Pin(DramTier* tier, DramBlock block) : tier_(tier), block_(block) {
  DramHeader& header = tier->header(block);
  FOREBAY_CHECK(header.state != DramState::kFree && header.pin_count < 0xffff);
  ++header.pin_count;
}
DramTier::Pin::Pin(Pin&& other) noexcept
    : tier_(std::exchange(other.tier_, nullptr)),
      block_(std::exchange(other.block_, kNoDramBlock)) {}
DramTier::Pin& DramTier::Pin::operator=(Pin&& other) noexcept {
  if (this != &other) {
    release();
    tier_ = std::exchange(other.tier_, nullptr);
    block_ = std::exchange(other.block_, kNoDramBlock);
  }
  return *this;
}
void DramTier::Pin::release() {
  if (tier_ == nullptr) return;
  DramHeader& header = tier_->header(block_);
  FOREBAY_CHECK(header.pin_count > 0);
  --header.pin_count;
  if (header.pin_count == 0 && header.dropped) tier_->free(block_);
  tier_ = nullptr;
}

}  // namespace forebay::store

// The DRAM tier: one arena of (huge, where the kernel has them) pages, and blocks in it.
//
// It holds bytes and says whose they are; what to evict is decided above. A block is filled by its
// maker, then ready; it may be pinned by readers, and one that is dropped while pinned goes when
// the last pin does. Numbers of blocks are reused: (number, generation) names a block for ever.
//
// Units: bytes; a block takes whole pages of 4 KiB, which also makes it fit for direct I/O and for
// registration (arena()). The capacity is a hard limit on pages handed out. Threads: one core.
// Blocking: make() maps memory; nothing else. Errors: make() kNoSpace; allocate() kNoDramBlock.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/error.h"
#include "io/huge_memory.h"
#include "store/index.h"
#include "store/key.h"
#include "store/tier/extents.h"

namespace forebay::store {

enum class DramState : std::uint8_t { kFree, kFilling, kReady };

// Who a block in DRAM is, in full; what the flash tier must be told when it is written back.
struct DramHeader {
  BlockId id;
  BlockId parent;
  std::unique_ptr<std::byte[]> engine_key;
  std::uint16_t engine_key_bytes = 0;
  std::uint16_t space = 0;
  Slot slot = kNoSlot;
  std::uint32_t data_bytes = 0;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::uint32_t generation = 0;  // counts the lives of this number
  std::uint16_t pin_count = 0;
  DramState state = DramState::kFree;
  bool dropped = false;     // goes when unpinned
  bool write_back = false;  // waits for flash: must not be evicted
  bool listed = false;      // stands in the DRAM policy
  bool prefetched = false;  // loaded ahead of need and not asked for yet
};

class DramTier {
 public:
  static constexpr std::uint32_t kPageBytes = 4096;

  // When the kernel gives the pages: as they are used, or all of them before make() returns, which
  // then blocks while they are cleared.
  enum class Pages : std::uint8_t { kAsUsed, kAtOnce };

  // kNoSpace: the kernel gives no such arena. `capacity_bytes` is rounded down to pages.
  [[nodiscard]] static Result<std::unique_ptr<DramTier>> make(std::uint64_t capacity_bytes,
                                                              Pages pages = Pages::kAsUsed);
  ~DramTier();
  DramTier(const DramTier&) = delete;
  DramTier& operator=(const DramTier&) = delete;

  // A block in state kFilling, or kNoDramBlock when no free run is long enough: evict and retry.
  [[nodiscard]] DramBlock allocate(std::uint32_t data_bytes);
  // Gives the pages back now, or when the last pin goes.
  void drop(DramBlock block);
  [[nodiscard]] DramHeader& header(DramBlock block) { return headers_[block]; }
  [[nodiscard]] const DramHeader& header(DramBlock block) const { return headers_[block]; }
  [[nodiscard]] std::span<std::byte> bytes(DramBlock block) const;

  // A lease on a block's bytes: while it lives they stay where and what they are.
  class Pin {
   public:
    Pin() = default;
    Pin(DramTier* tier, DramBlock block);
    ~Pin() { release(); }
    Pin(Pin&& other) noexcept;
    Pin& operator=(Pin&& other) noexcept;
    void release();
    [[nodiscard]] DramBlock block() const { return block_; }

   private:
    DramTier* tier_ = nullptr;
    DramBlock block_ = kNoDramBlock;
  };

  [[nodiscard]] std::uint64_t capacity_bytes() const {
    return std::uint64_t{extents_.total_pages()} * kPageBytes;
  }
  // Whole pages: what the hard limit is about.
  [[nodiscard]] std::uint64_t used_bytes() const {
    return std::uint64_t{extents_.total_pages() - extents_.free_pages()} * kPageBytes;
  }
  [[nodiscard]] static std::uint64_t footprint_bytes(std::uint32_t data_bytes);
  [[nodiscard]] std::uint64_t block_count() const { return block_count_; }
  // Block numbers ever used are below this.
  [[nodiscard]] DramBlock block_end() const { return static_cast<DramBlock>(headers_.size()); }
  [[nodiscard]] iovec arena() const { return {arena_.bytes().data(), arena_.bytes().size()}; }
  // Headers and extents, beside the arena.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  explicit DramTier(io::HugeMemory arena);
  void free(DramBlock block);

  io::HugeMemory arena_;
  ExtentAllocator extents_;
  std::vector<DramHeader> headers_;
  std::uint64_t block_count_ = 0;
};

}  // namespace forebay::store

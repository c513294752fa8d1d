// The one index over all tiers: which blocks are here, where, and who is whose parent.
//
// Open addressing over buckets of one cache line (12 slots with 8-bit tags), in 1,024 shards that
// grow one at a time, so that no insert pays for more than a thousandth of the index. An entry is
// 40 bytes (32 that a lookup reads, 8 that only chains and eviction read); with its share of the
// buckets a block costs 46 to 48 bytes here, and the rest of the 64 is the policy's.
//
// Identity: 16 of the 32 bytes. The whole is proven where the bytes are (media header, DRAM block).
// An entry without any tier is a ghost: it stands for a parent that is gone (or not yet known)
// while children still name it. Ghosts are absent for every lookup.
//
// Threads: one core. Blocking: never. Errors: insert() answers kNoSlot when 2^32-2 are in use.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "store/key.h"
#include "store/tier/flash.h"

namespace forebay::store {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};
using DramBlock = std::uint32_t;
inline constexpr DramBlock kNoDramBlock = ~DramBlock{0};

struct ShortId {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const ShortId&, const ShortId&) = default;
  [[nodiscard]] static ShortId of(const BlockId& id) {
    ShortId value;
    std::memcpy(&value, id.digest.data(), sizeof value);
    return value;
  }
};

// What a lookup reads: half a cache line.
struct alignas(32) IndexEntry {
  ShortId id;
  FlashPage flash_page = kNoFlashPage;
  DramBlock dram_block = kNoDramBlock;
  std::uint32_t data_bytes = 0;
  std::uint16_t token_count = 0;  // 65,535 stands for all above; used for estimates only
  std::uint16_t space = 0;
  [[nodiscard]] bool on_flash() const { return flash_page != kNoFlashPage; }
  [[nodiscard]] bool in_dram() const { return dram_block != kNoDramBlock; }
  [[nodiscard]] bool present() const { return on_flash() || in_dram(); }
};
static_assert(sizeof(IndexEntry) == 32);

struct IndexLink {
  static constexpr std::uint16_t kChildrenMax = 0xffff;  // saturated: never counts down again
  static constexpr std::uint8_t kHeld = 1;               // stays, even bare
  static constexpr std::uint8_t kUnwanted = 2;           // removed while on its way to flash
  static constexpr std::uint8_t kListed = 4;             // stands in the flash policy
  static constexpr std::uint8_t kMoreExpected = 8;       // a put of what follows it is due
  static constexpr std::uint8_t kLoading = 16;           // on its way from flash to DRAM
  Slot parent = kNoSlot;
  std::uint16_t child_count = 0;  // entries that name this one as parent
  std::uint8_t flags = 0;         // kHeld, and the store's own
  std::uint8_t spare = 0;
};
static_assert(sizeof(IndexLink) == 8);

class Index {
 public:
  Index();
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  [[nodiscard]] Slot find(const BlockId& id) const { return find(ShortId::of(id)); }
  [[nodiscard]] Slot find(const ShortId& id) const { return find_word(id.low, id); }
  // The entry of `id`, made as a ghost where there is none.
  [[nodiscard]] Slot insert(const BlockId& id);
  [[nodiscard]] IndexEntry& entry(Slot slot) {
    return entry_chunks_[slot >> kChunkBits][slot & kChunkMask];
  }
  [[nodiscard]] const IndexEntry& entry(Slot slot) const {
    return entry_chunks_[slot >> kChunkBits][slot & kChunkMask];
  }
  [[nodiscard]] IndexLink& link(Slot slot) {
    return link_chunks_[slot >> kChunkBits][slot & kChunkMask];
  }
  [[nodiscard]] const IndexLink& link(Slot slot) const {
    return link_chunks_[slot >> kChunkBits][slot & kChunkMask];
  }
  // Makes `parent` (kNoSlot: none) the parent of `child`; releases the former one. A link that
  // would close a circle, or that cannot be shown not to within kAncestorsMax steps, is not made.
  void set_parent(Slot child, Slot parent);
  // Frees the entry if it is bare (no tier, no children, not held), and then its ancestors that
  // became so.
  void release(Slot slot);

  // The leading run of `chain`: visit(slot, entry) for each present block in order, until one is
  // absent or visit returns false. Returns how many were visited with true.
  template <class Visit>
  std::size_t walk(std::span<const BlockId> chain, Visit&& visit) const;
  // Warms the caches for keys that will be asked for soon.
  void prefetch(const BlockId& id) const { __builtin_prefetch(home(id.word())); }

  [[nodiscard]] std::size_t entry_count() const { return entry_count_; }
  // Slots ever used: every slot in use is below it.
  [[nodiscard]] Slot slot_end() const { return slot_end_; }
  [[nodiscard]] bool in_use(Slot slot) const { return entry(slot).space != kFreeSpace; }
  [[nodiscard]] std::uint64_t memory_bytes() const;

  // A space number that no block has: marks free entries.
  static constexpr std::uint16_t kFreeSpace = 0xffff;

 private:
  static constexpr unsigned kChunkBits = 16;  // 65,536 entries are one 2 MiB page
  static constexpr Slot kChunkMask = (Slot{1} << kChunkBits) - 1;
  static constexpr unsigned kShardBits = 10;
  static constexpr std::size_t kBucketSlots = 12;
  static constexpr std::size_t kWalkAhead = 16;  // a power of two
  static constexpr unsigned kAncestorsMax = 1024;

  struct alignas(64) Bucket {
    std::array<std::uint8_t, kBucketSlots> tags{};  // 0: empty
    std::uint8_t passed = 0;  // entries of earlier buckets that went on past; 255 sticks
    std::array<std::uint8_t, 3> spare{};
    std::array<Slot, kBucketSlots> slots{};
  };
  static_assert(sizeof(Bucket) == 64);
  struct Shard {
    std::unique_ptr<Bucket[]> buckets;
    std::uint32_t bucket_count = 0;
    std::uint32_t used = 0;
  };
  struct FreeChunk {
    void operator()(void* chunk) const;
  };

  [[nodiscard]] static std::uint8_t tag_of(std::uint64_t word) {
    const auto low = static_cast<std::uint8_t>(word);
    return low == 0 ? std::uint8_t{1} : low;
  }
  [[nodiscard]] static std::uint32_t bucket_of(std::uint64_t word, std::uint32_t bucket_count) {
    return static_cast<std::uint32_t>((((word >> 16) & 0xffffffffU) * bucket_count) >> 32);
  }
  [[nodiscard]] const Bucket* home(std::uint64_t word) const {
    const Shard& shard = shards_[word >> (64 - kShardBits)];
    return &shard.buckets[bucket_of(word, shard.bucket_count)];
  }
  // One bit per tag of the bucket that may equal `tag` (bytes above a true match can be false
  // alarms; the entry decides).
  [[nodiscard]] static std::uint64_t matches(std::uint64_t tags, std::uint8_t tag) {
    const std::uint64_t mixed = tags ^ (0x0101010101010101ULL * tag);
    return (mixed - 0x0101010101010101ULL) & ~mixed & 0x8080808080808080ULL;
  }
  // Warms the entries of the home bucket whose tags fit and returns the first, or kNoSlot.
  [[nodiscard]] Slot fetch_candidates(const Bucket& bucket, std::uint8_t tag) const;
  [[nodiscard]] Slot find_word(std::uint64_t word, const ShortId& id) const;
  void place(Shard& shard, std::uint64_t word, Slot slot);
  void displace(Shard& shard, std::uint64_t word, Slot slot);
  void grow(Shard& shard);
  [[nodiscard]] Slot take_slot();
  [[nodiscard]] bool may_close_circle(Slot child, Slot parent) const;
  void drop_child(Slot parent);

  std::vector<Shard> shards_;
  std::vector<std::unique_ptr<IndexEntry[], FreeChunk>> entry_chunks_;
  std::vector<std::unique_ptr<IndexLink[], FreeChunk>> link_chunks_;
  std::size_t entry_count_ = 0;
  Slot slot_end_ = 0;
  Slot free_head_ = kNoSlot;
};

inline Slot Index::fetch_candidates(const Bucket& bucket, std::uint8_t tag) const {
  std::array<std::uint64_t, 2> words;
  std::memcpy(words.data(), &bucket, sizeof words);  // the tags and what stands behind them
  Slot first = kNoSlot;
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t found = matches(words[half], tag) & (half == 0 ? ~0ULL : 0x80808080ULL);
    for (; found != 0; found &= found - 1) {
      const auto at = half * 8 + static_cast<std::size_t>(std::countr_zero(found)) / 8;
      if (bucket.tags[at] != tag) continue;
      __builtin_prefetch(&entry(bucket.slots[at]));
      if (first == kNoSlot) first = bucket.slots[at];
    }
  }
  if (first == kNoSlot && bucket.passed != 0) __builtin_prefetch(&bucket + 1);
  return first;
}

// Three steps a key, each kWalkAhead keys behind the one before it, so that the cache misses of
// many keys overlap: fetch the bucket, fetch the entry, look.
template <class Visit>
std::size_t Index::walk(std::span<const BlockId> chain, Visit&& visit) const {
  constexpr std::size_t kMask = 2 * kWalkAhead - 1;
  std::array<const Bucket*, 2 * kWalkAhead> homes;
  std::array<Slot, 2 * kWalkAhead> slots;
  const std::size_t size = chain.size();
  for (std::size_t step = 0; step < size + 2 * kWalkAhead; ++step) {
    if (step >= 2 * kWalkAhead) {
      const std::size_t at = step - 2 * kWalkAhead;
      const ShortId id = ShortId::of(chain[at]);
      Slot slot = slots[at & kMask];
      // Another block with the same tag, or one that had to move on: the full search decides.
      if (slot == kNoSlot || entry(slot).id != id) slot = find_word(id.low, id);
      if (slot == kNoSlot) return at;
      const IndexEntry& found = entry(slot);
      if (!found.present() || !visit(slot, found)) return at;
    }
    if (step >= kWalkAhead && step - kWalkAhead < size) {
      const std::size_t at = step - kWalkAhead;
      slots[at & kMask] = fetch_candidates(*homes[at & kMask], tag_of(chain[at].word()));
    }
    if (step < size) {
      homes[step & kMask] = home(chain[step].word());
      __builtin_prefetch(homes[step & kMask]);
    }
  }
  return size;
}

}  // namespace forebay::store

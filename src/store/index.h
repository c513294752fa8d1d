// The one index over all tiers: which blocks are here, where, and who is whose parent.
//
// Open addressing over buckets of one cache line (12 slots with 8-bit tags), in 1,024 shards that
// grow one at a time, so that no insert pays for more than a thousandth of the index. An entry is
// 32 bytes, its parent 4, its share of the buckets 6.2 to 7.8: a block costs 42 to 44 bytes here,
// and the rest of the 64 is the policy's.
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
#include <utility>
#include <vector>

#include "io/touch_ahead.h"
#include "store/index_bucket.h"
#include "store/key.h"
#include "store/slot_run.h"
#include "store/tier/flash.h"

namespace forebay::store {

// A pair of key space and token count by number; kNoKind marks free entries.
using Kind = std::uint16_t;
inline constexpr Kind kNoKind = 0xffff;
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

enum class EntryFlag : std::uint16_t {
  kHeld = 1 << 11,          // stays, even bare
  kUnwanted = 1 << 12,      // removed while on its way to flash
  kListed = 1 << 13,        // stands in the flash policy
  kMoreExpected = 1 << 14,  // a put of what follows it is due
  kLoading = 1 << 15,       // on its way from flash to DRAM
};

// What a lookup reads: half a cache line.
struct alignas(32) IndexEntry {
  static constexpr std::uint16_t kChildrenMax = (1 << 11) - 1;  // saturated: never counts down

  ShortId id;
  FlashPage flash_page = kNoFlashPage;
  DramBlock dram_block = kNoDramBlock;
  std::uint32_t data_bytes = 0;
  Kind kind = 0;           // its key space and tokens (store/spaces.h); 0: a ghost's
  std::uint16_t word = 0;  // children that name it as parent, and flags

  [[nodiscard]] bool on_flash() const { return flash_page != kNoFlashPage; }
  [[nodiscard]] bool in_dram() const { return dram_block != kNoDramBlock; }
  [[nodiscard]] bool present() const { return on_flash() || in_dram(); }
  [[nodiscard]] std::uint16_t child_count() const { return word & kChildrenMax; }
  [[nodiscard]] bool has(EntryFlag flag) const { return (word & std::to_underlying(flag)) != 0; }
  void set(EntryFlag flag) { word |= std::to_underlying(flag); }
  void clear(EntryFlag flag) { word &= static_cast<std::uint16_t>(~std::to_underlying(flag)); }
};
static_assert(sizeof(IndexEntry) == 32);

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
  [[nodiscard]] Slot parent(Slot slot) const {
    return parent_chunks_[slot >> kChunkBits][slot & kChunkMask];
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

  // Makes room for this many entries at once: no shard grows on the way there. Large room is
  // touched by a thread of its own, ahead of who fills it: a kernel clears gigabytes for seconds.
  void reserve(std::uint64_t entry_count);

  [[nodiscard]] std::size_t entry_count() const { return entry_count_; }
  // Slots ever used: every slot in use is below it.
  [[nodiscard]] Slot slot_end() const { return slot_end_; }
  [[nodiscard]] bool in_use(Slot slot) const { return entry(slot).kind != kNoKind; }
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  using Bucket = IndexBucket;
  using Candidates = IndexBucket::Candidates;
  static constexpr unsigned kChunkBits = 16;  // 65,536 entries are one 2 MiB page
  static constexpr Slot kChunkMask = (Slot{1} << kChunkBits) - 1;
  static constexpr unsigned kShardBits = 10;
  static constexpr std::size_t kBucketSlots = Bucket::kSlots;
  static constexpr std::size_t kWalkAhead = 16;  // a power of two
  static constexpr std::size_t kKeysAhead = 64;
  static constexpr Slot kEntriesAhead = 64;
  static constexpr unsigned kAncestorsMax = 1024;

  struct Shard {
    IndexBuckets buckets;
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
  // Whether `id` stands in `slot`. A freed entry keeps the id that it had.
  [[nodiscard]] bool holds(Slot slot, const ShortId& id) const {
    return entry(slot).id == id && in_use(slot);
  }
  // Warms the entries of the home bucket whose tags fit and returns the first, or kNoSlot.
  [[nodiscard]] Slot fetch_candidates(const Bucket& bucket, std::uint8_t tag) const;
  [[nodiscard]] Slot find_word(std::uint64_t word, const ShortId& id) const;
  void place(Shard& shard, std::uint64_t word, Slot slot);
  void displace(Shard& shard, std::uint64_t word, Slot slot);
  // Moves the shard into `buckets`, all empty.
  void rebuild(Shard& shard, IndexBuckets buckets, std::uint32_t bucket_count);
  [[nodiscard]] Slot& parent_of(Slot slot) {
    return parent_chunks_[slot >> kChunkBits][slot & kChunkMask];
  }
  [[nodiscard]] Slot take_slot();
  void add_chunk();
  void touch_ahead(std::size_t slab_bytes);
  [[nodiscard]] bool may_close_circle(Slot child, Slot parent) const;
  void drop_child(Slot parent);

  // The shards' buckets side by side in huge pages, as reserve() lays them out.
  std::unique_ptr<Bucket[], FreeChunk> slab_;
  std::vector<Shard> shards_;
  std::vector<std::unique_ptr<IndexEntry[], FreeChunk>> entry_chunks_;
  std::vector<std::unique_ptr<Slot[], FreeChunk>> parent_chunks_;
  std::size_t entry_count_ = 0;
  Slot slot_end_ = 0;
  Slot free_head_ = kNoSlot;
  io::TouchAhead toucher_;  // last: ends before what it touches
};

inline Slot Index::fetch_candidates(const Bucket& bucket, std::uint8_t tag) const {
  Slot first = kNoSlot;
  for (Candidates found(bucket, tag); !found.done(); found.next()) {
    const Slot slot = bucket.slots[found.at()];
    __builtin_prefetch(&entry(slot));
    if (first == kNoSlot) first = slot;
  }
  if (first == kNoSlot && bucket.passed != 0) __builtin_prefetch(&bucket + 1);
  return first;
}

// Three steps a key, each kWalkAhead keys behind the one before it, so that the cache misses of
// many keys overlap: fetch the bucket, fetch the entry, look. A chain that was put in one piece
// stands in slots one after another: where the last ones did, the next key's entry is looked at
// first, and its bucket left alone.
template <class Visit>
std::size_t Index::walk(std::span<const BlockId> chain, Visit&& visit) const {
  constexpr std::size_t kMask = 2 * kWalkAhead - 1;
  std::array<const Bucket*, 2 * kWalkAhead> homes;  // null: the slot is known
  std::array<Slot, 2 * kWalkAhead> slots;
  SlotRun run;
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
      run.found(slot, 2 * kWalkAhead);
    }
    if (step >= kWalkAhead && step - kWalkAhead < size) {
      const std::size_t at = step - kWalkAhead;
      if (homes[at & kMask] != nullptr) {
        slots[at & kMask] = fetch_candidates(*homes[at & kMask], tag_of(chain[at].word()));
      }
    }
    if (step < size) {
      // The keys themselves: what the hardware fetches ahead ends at the page.
      if (step + kKeysAhead < size) __builtin_prefetch(&chain[step + kKeysAhead]);
      if (run.expected() < slot_end_ && holds(run.expected(), ShortId::of(chain[step]))) {
        homes[step & kMask] = nullptr;
        slots[step & kMask] = run.expected();
        run.advance();
        if (run.expected() + kEntriesAhead < slot_end_) {
          __builtin_prefetch(&entry(run.expected() + kEntriesAhead));
        }
      } else {
        run.end();
        homes[step & kMask] = home(chain[step].word());
        __builtin_prefetch(homes[step & kMask]);
      }
    }
  }
  return size;
}

}  // namespace forebay::store

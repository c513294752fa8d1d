#include "store/index.h"

#include <sys/uio.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "core/check.h"

namespace forebay::store {
namespace {

// Above this share of its places a shard grows by a quarter: 69 to 86 % full, 6.2 to 7.8 bytes a
// block.
constexpr double kFillMax = 0.86;
constexpr std::size_t kTouchAheadMin = 64 * kMiB;  // of buckets: ten million blocks

template <class T>
T* make_chunk(std::size_t count) {
  const std::size_t bytes = round_up(count * sizeof(T), kHugePageBytes / 4);
  return static_cast<T*>(static_cast<void*>(allocate_for_huge_pages(bytes).release()));
}

}  // namespace

void Index::FreeChunk::operator()(void* chunk) const { std::free(chunk); }

Index::Index() : shards_(std::size_t{1} << kShardBits) {
  for (Shard& shard : shards_) {
    shard.buckets = IndexBuckets(new Bucket[1]);
    shard.bucket_count = 1;
  }
}
Index::~Index() = default;

Slot Index::find_word(std::uint64_t word, const ShortId& id) const {
  const Shard& shard = shards_[word >> (64 - kShardBits)];
  const std::uint8_t tag = tag_of(word);
  std::uint32_t at = bucket_of(word, shard.bucket_count);
  for (std::uint32_t probe = 0; probe < shard.bucket_count; ++probe) {
    const Bucket& bucket = shard.buckets[at];
    for (Candidates found(bucket, tag); !found.done(); found.next()) {
      const Slot slot = bucket.slots[found.at()];
      if (entry(slot).id == id) return slot;
    }
    if (bucket.passed == 0) return kNoSlot;
    at = at + 1 == shard.bucket_count ? 0 : at + 1;
  }
  return kNoSlot;
}

Slot Index::insert(const BlockId& id) {
  const std::uint64_t word = id.word();
  const ShortId short_id = ShortId::of(id);
  if (const Slot found = find_word(word, short_id); found != kNoSlot) return found;
  const Slot slot = take_slot();
  if (slot == kNoSlot) return kNoSlot;
  entry(slot) = IndexEntry{.id = short_id};
  parent_of(slot) = kNoSlot;
  Shard& shard = shards_[word >> (64 - kShardBits)];
  if (static_cast<double>(shard.used + 1) >
      kFillMax * static_cast<double>(kBucketSlots) * shard.bucket_count) {
    const auto bucket_count = std::max(shard.bucket_count + 1, shard.bucket_count / 4 * 5);
    rebuild(shard, IndexBuckets(new Bucket[bucket_count]), bucket_count);
  }
  place(shard, word, slot);
  ++shard.used;
  ++entry_count_;
  return slot;
}

void Index::place(Shard& shard, std::uint64_t word, Slot slot) {
  std::uint32_t at = bucket_of(word, shard.bucket_count);
  while (true) {
    Bucket& bucket = shard.buckets[at];
    for (std::size_t i = 0; i < kBucketSlots; ++i) {
      if (bucket.tags[i] != 0) continue;
      bucket.tags[i] = tag_of(word);
      bucket.slots[i] = slot;
      return;
    }
    if (bucket.passed != 255) ++bucket.passed;
    at = at + 1 == shard.bucket_count ? 0 : at + 1;
  }
}

void Index::displace(Shard& shard, std::uint64_t word, Slot slot) {
  std::uint32_t at = bucket_of(word, shard.bucket_count);
  const std::uint8_t tag = tag_of(word);
  for (std::uint32_t probe = 0; probe < shard.bucket_count; ++probe) {
    Bucket& bucket = shard.buckets[at];
    for (std::size_t i = 0; i < kBucketSlots; ++i) {
      if (bucket.tags[i] != tag || bucket.slots[i] != slot) continue;
      bucket.tags[i] = 0;
      return;
    }
    // The entry went past here when it was placed, so it is counted.
    if (bucket.passed != 255) --bucket.passed;
    at = at + 1 == shard.bucket_count ? 0 : at + 1;
  }
  FOREBAY_CHECK(false);
}

void Index::reserve(std::uint64_t entry_count) {
  const double a_shard = static_cast<double>(entry_count) / static_cast<double>(shards_.size());
  // Shards differ by chance: three deviations more keep nearly all of them from growing.
  const double places = (a_shard + 3 * std::sqrt(a_shard)) / kFillMax;
  const auto bucket_count = static_cast<std::uint32_t>(places / kBucketSlots) + 1;
  if (bucket_count <= shards_.front().bucket_count || slab_ != nullptr) return;
  const std::size_t total = shards_.size() * bucket_count;
  slab_.reset(make_chunk<Bucket>(total));
  std::uninitialized_default_construct_n(slab_.get(), total);
  Bucket* next = slab_.get();
  for (Shard& shard : shards_) {
    rebuild(shard, IndexBuckets(next, FreeIndexBuckets{.lent = true}), bucket_count);
    next += bucket_count;
  }
  while (entry_chunks_.size() << kChunkBits < entry_count) add_chunk();
  if (total * sizeof(Bucket) >= kTouchAheadMin) touch_ahead(total * sizeof(Bucket));
}

void Index::rebuild(Shard& shard, IndexBuckets buckets, std::uint32_t bucket_count) {
  Shard bigger;
  bigger.bucket_count = bucket_count;
  bigger.buckets = std::move(buckets);
  bigger.used = shard.used;
  for (std::uint32_t at = 0; at < shard.bucket_count; ++at) {
    const Bucket& bucket = shard.buckets[at];
    for (std::size_t i = 0; i < kBucketSlots; ++i) {
      if (bucket.tags[i] != 0) place(bigger, entry(bucket.slots[i]).id.low, bucket.slots[i]);
    }
  }
  shard = std::move(bigger);
}

Slot Index::take_slot() {
  if (free_head_ != kNoSlot) {
    const Slot slot = free_head_;
    free_head_ = entry(slot).data_bytes;
    return slot;
  }
  if (slot_end_ == kNoSlot - 1) return kNoSlot;
  if (slot_end_ >> kChunkBits == entry_chunks_.size()) add_chunk();
  return slot_end_++;
}

void Index::add_chunk() {
  entry_chunks_.emplace_back(make_chunk<IndexEntry>(std::size_t{1} << kChunkBits));
  parent_chunks_.emplace_back(make_chunk<Slot>(std::size_t{1} << kChunkBits));
}

void Index::touch_ahead(std::size_t slab_bytes) {
  std::vector<iovec> parts{{slab_.get(), slab_bytes}};
  for (std::size_t i = 0; i < entry_chunks_.size(); ++i) {
    parts.push_back({entry_chunks_[i].get(), sizeof(IndexEntry) << kChunkBits});
    parts.push_back({parent_chunks_[i].get(), sizeof(Slot) << kChunkBits});
  }
  toucher_.start(std::move(parts));
}

void Index::set_parent(Slot child, Slot parent) {
  const Slot former = parent_of(child);
  if (former == parent || may_close_circle(child, parent)) return;
  parent_of(child) = parent;
  if (parent != kNoSlot && entry(parent).child_count() != IndexEntry::kChildrenMax) {
    ++entry(parent).word;
  }
  if (former != kNoSlot) {
    drop_child(former);
    release(former);
  }
}

bool Index::may_close_circle(Slot child, Slot parent) const {
  if (child == parent) return true;
  if (entry(child).child_count() == 0) return false;  // nobody's ancestor
  for (unsigned step = 0; step < kAncestorsMax; ++step) {
    if (parent == kNoSlot) return false;
    if (parent == child) return true;
    parent = this->parent(parent);
  }
  return true;
}

void Index::drop_child(Slot parent) {
  IndexEntry& entry_of_parent = entry(parent);
  FOREBAY_CHECK(entry_of_parent.child_count() > 0);
  if (entry_of_parent.child_count() != IndexEntry::kChildrenMax) --entry_of_parent.word;
}

void Index::release(Slot slot) {
  while (slot != kNoSlot) {
    IndexEntry& bare = entry(slot);
    if (bare.present() || bare.child_count() != 0 || bare.has(EntryFlag::kHeld)) return;
    const Slot parent = parent_of(slot);
    Shard& shard = shards_[bare.id.low >> (64 - kShardBits)];
    displace(shard, bare.id.low, slot);
    --shard.used;
    --entry_count_;
    bare.kind = kNoKind;
    bare.data_bytes = free_head_;
    free_head_ = slot;
    if (parent != kNoSlot) drop_child(parent);
    slot = parent;
  }
}

std::uint64_t Index::memory_bytes() const {
  std::uint64_t bytes = shards_.size() * sizeof(Shard);
  for (const Shard& shard : shards_) bytes += shard.bucket_count * sizeof(Bucket);
  // Pages of the last chunk that were never touched cost nothing.
  bytes += std::uint64_t{slot_end_} * (sizeof(IndexEntry) + sizeof(Slot));
  return bytes;
}

}  // namespace forebay::store

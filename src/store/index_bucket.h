// A bucket of the index: one cache line, twelve places with 8-bit tags.
#pragma once

#include <emmintrin.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

namespace forebay::store {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

struct alignas(64) IndexBucket {
  static constexpr std::size_t kSlots = 12;

  // The places whose tags equal `tag`, all twelve compared at once.
  class Candidates {
   public:
    Candidates(const IndexBucket& bucket, std::uint8_t tag) {
      const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(&bucket));
      const __m128i same = _mm_cmpeq_epi8(all, _mm_set1_epi8(static_cast<char>(tag)));
      found_ = static_cast<unsigned>(_mm_movemask_epi8(same)) & ((1U << kSlots) - 1);
    }
    [[nodiscard]] bool done() const { return found_ == 0; }
    [[nodiscard]] std::size_t at() const {
      return static_cast<std::size_t>(std::countr_zero(found_));
    }
    void next() { found_ &= found_ - 1; }

   private:
    unsigned found_;
  };

  std::array<std::uint8_t, kSlots> tags{};  // 0: empty
  std::uint8_t passed = 0;  // entries of earlier buckets that went on past; 255 sticks
  std::array<std::uint8_t, 3> spare{};
  std::array<Slot, kSlots> slots{};
};
static_assert(sizeof(IndexBucket) == 64);

// The buckets of one shard: its own, or lent by a slab that all shards share.
struct FreeIndexBuckets {
  bool lent = false;
  void operator()(IndexBucket* buckets) const {
    if (!lent) delete[] buckets;
  }
};
using IndexBuckets = std::unique_ptr<IndexBucket[], FreeIndexBuckets>;

}  // namespace forebay::store

// A log of operations that keeps the newest, and how many older ones fell out.
//
// A ring over one array: once it is full a new operation takes the place of the oldest. Threads:
// one owner, so there is no lock and nothing atomic. Memory: grows with use to kMax rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/kv_backend.h"

namespace forebay::engine {

template <class Op, std::size_t kMax>
class NewestRing {
 public:
  static constexpr std::size_t kOpsMax = kMax;

  void add(const Op& op) {
    if (ops_.size() < kMax) {
      ops_.push_back(op);
      return;
    }
    ops_[oldest_] = op;
    oldest_ = (oldest_ + 1) % kMax;
    ++dropped_count_;
  }
  // All that it holds, oldest first; the ring is empty after it.
  [[nodiscard]] std::vector<Op> take() {
    std::ranges::rotate(ops_, ops_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    oldest_ = 0;
    return std::exchange(ops_, {});
  }
  // Since the ring was made.
  [[nodiscard]] std::uint64_t dropped_count() const { return dropped_count_; }

 private:
  std::vector<Op> ops_;
  std::size_t oldest_ = 0;
  std::uint64_t dropped_count_ = 0;
};

// Of one backend, emptied many times a second (KvBackend::take_ops).
using OpRing = NewestRing<KvOp, std::size_t{1} << 16>;

}  // namespace forebay::engine

// The storage op log of a backend: the newest operations, and how many older ones fell out.
//
// Threads: one owner. Memory: bounded by kOpsMax rows.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "engine/kv_backend.h"

namespace forebay::engine {

class OpRing {
 public:
  static constexpr std::size_t kOpsMax = 1 << 16;

  void add(const KvOp& op) {
    if (ops_.size() == kOpsMax) {
      ops_.pop_front();
      ++dropped_count_;
    }
    ops_.push_back(op);
  }
  [[nodiscard]] std::vector<KvOp> take() {
    std::vector<KvOp> taken(ops_.begin(), ops_.end());
    ops_.clear();
    return taken;
  }
  [[nodiscard]] std::uint64_t dropped_count() const { return dropped_count_; }

 private:
  std::deque<KvOp> ops_;
  std::uint64_t dropped_count_ = 0;
};

}  // namespace forebay::engine

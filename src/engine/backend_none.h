// The arm without a cache beyond HBM: every block is recomputed.
//
// Threads: one loop. Never suspends.
#pragma once

#include "engine/kv_backend.h"

namespace forebay::engine {

class BackendNone final : public KvBackend {
 public:
  [[nodiscard]] std::string_view name() const override { return "recompute"; }
  [[nodiscard]] KvLookup lookup(std::span<const store::BlockId>) override { return {}; }
  [[nodiscard]] Task<KvLoad> load(std::span<KvBlock>, std::uint64_t, Nanos) override {
    co_return KvLoad{};
  }
  [[nodiscard]] Task<void> save(std::span<KvBlock>, std::uint64_t) override { co_return; }
  void touch(std::span<const store::BlockId>) override {}
  void observe_prefill(std::uint64_t, Nanos) override {}
  [[nodiscard]] Task<void> drain() override { co_return; }
  [[nodiscard]] Task<void> close() override { co_return; }
  [[nodiscard]] store::StoreStats stats() const override { return {}; }
  [[nodiscard]] std::vector<KvOp> take_ops() override { return {}; }
};

}  // namespace forebay::engine

// An arm over a store::Store: DRAM only, or DRAM and flash, as the store was opened.
//
// Ownership: owns the store; close() closes it. Blocks that a load delivers late stay leased by the
// store through KvBlock::owner. Threads: the store's loop. Errors: none; every fault is a shorter
// leading run or a refused save, counted in stats().
#pragma once

#include <memory>
#include <string>

#include "core/cancel.h"
#include "engine/kv_backend.h"
#include "engine/op_ring.h"

namespace forebay::engine {

class BackendStore final : public KvBackend {
 public:
  // kInvalid, kBusy: the store refused the key space.
  [[nodiscard]] static Result<std::unique_ptr<BackendStore>> make(
      io::Loop* loop, std::string name, std::unique_ptr<store::Store> store,
      const store::KeySpace& space);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] KvLookup lookup(std::span<const store::BlockId> chain) override;
  [[nodiscard]] Task<KvLoad> load(std::span<KvBlock> blocks, std::uint64_t op_id,
                                  Nanos deadline) override;
  [[nodiscard]] Task<void> save(std::span<KvBlock> blocks, std::uint64_t op_id) override;
  void touch(std::span<const store::BlockId> chain) override { store_->touch(chain, space_); }
  void prefetch(std::span<const store::BlockId> chain, std::uint64_t op_id) override;
  void observe_prefill(std::uint64_t tokens, Nanos took) override {
    store_->observe_prefill(tokens, took);
  }
  void interrupt() override { interrupted_.cancel(); }
  [[nodiscard]] Task<void> drain() override;
  [[nodiscard]] Task<void> close() override;
  [[nodiscard]] store::StoreStats stats() const override { return store_->stats(); }
  [[nodiscard]] std::vector<KvOp> take_ops() override { return ops_.take(); }
  [[nodiscard]] std::uint64_t dropped_ops() const override { return ops_.dropped_count(); }
  [[nodiscard]] store::Store& store() { return *store_; }

 private:
  BackendStore(io::Loop* loop, std::string name, std::unique_ptr<store::Store> store,
               store::SpaceId space);
  void note_load(const KvLoad& report, std::size_t asked, std::uint64_t op_id, Nanos start);

  io::Loop* loop_;
  std::string name_;
  std::unique_ptr<store::Store> store_;
  store::SpaceId space_;
  CancelSource interrupted_;
  OpRing ops_;
};

}  // namespace forebay::engine

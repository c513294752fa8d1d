// The flash tier put together: reader, writer, reclaim, checkpoints, probing (flash.h is the face).
#pragma once

#include <memory>
#include <string>

#include "store/tier/flash.h"
#include "store/tier/flash_checkpointer.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_kept.h"
#include "store/tier/flash_probe.h"
#include "store/tier/flash_range.h"
#include "store/tier/flash_reader.h"
#include "store/tier/flash_reclaim.h"
#include "store/tier/flash_superblock.h"
#include "store/tier/flash_tombstones.h"
#include "store/tier/flash_writer.h"

namespace forebay::store {

class FlashLog final : public FlashTier {
 public:
  explicit FlashLog(std::shared_ptr<FlashCore> core);
  ~FlashLog() override;
  FlashLog(const FlashLog&) = delete;
  FlashLog& operator=(const FlashLog&) = delete;

  struct Start {
    bool fresh = false;  // just formatted: nothing to recover
    SuperblockDamage damage;
    RangeOptions io;
    Nanos began{0};
  };
  // Recovers, tells the owner, starts the background work.
  [[nodiscard]] Task<Status> start(Start start);

  [[nodiscard]] Task<void> append(std::span<FlashAppend> items, FlashCall call) override;
  [[nodiscard]] Task<void> read(std::span<FlashRead> items, FlashCall call) override;
  [[nodiscard]] Task<Status> forget(BlockId id, FlashPage page, std::uint32_t data_bytes,
                                    bool durable, FlashCall call) override;
  [[nodiscard]] Task<Status> checkpoint(FlashCall call) override;
  [[nodiscard]] Task<Status> keep(std::span<const std::byte> bytes, FlashCall call) override;
  [[nodiscard]] std::size_t kept_bytes_max() const override { return kept_.bytes_max(); }
  [[nodiscard]] Task<Result<VerifyResult>> verify(std::size_t findings_max,
                                                  FlashCall call) override;
  [[nodiscard]] Task<Result<RecordNames>> names_of(FlashPage page, FlashCall call) override;
  [[nodiscard]] Task<Status> close(FlashCall call) override;
  [[nodiscard]] FlashStats stats() const override;

 private:
  // A device that cannot be repaired now is still good to read.
  [[nodiscard]] Task<void> repair_superblock(const SuperblockDamage* damage, RangeOptions options);

  std::shared_ptr<FlashCore> core_;
  FlashReader* reader_;  // parts of the core
  FlashWriter* writer_;
  TombstoneLog tombstones_;
  Reclaimer reclaimer_;
  Checkpointer checkpointer_;
  KeptSlots kept_;
  FlashProbe probe_;
};

}  // namespace forebay::store

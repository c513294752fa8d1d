// A DRAM block lent to a device: it stays in place until the device let go, whatever becomes of the
// call, the store or the block's own fate. Ownership: shared by the lender and the loan.
#pragma once

#include <sys/uio.h>

#include <memory>
#include <span>

#include "store/lent_buffer.h"
#include "store/tier/dram.h"

namespace forebay::store {

struct PinnedBlock {
  std::shared_ptr<DramTier> tier;
  DramTier::Pin pin;  // goes before the tier does
  iovec piece{};
};

[[nodiscard]] inline LentBuffer lend_block(const std::shared_ptr<DramTier>& tier, DramBlock block) {
  auto pinned = std::make_shared<PinnedBlock>();
  pinned->tier = tier;
  pinned->pin = DramTier::Pin(tier.get(), block);
  const std::span<std::byte> bytes = tier->bytes(block);
  pinned->piece = {bytes.data(), bytes.size()};
  const std::span<const iovec> pieces(&pinned->piece, 1);
  return {.pieces = pieces, .owner = std::move(pinned)};
}

}  // namespace forebay::store

// Lays memory along a stretch of the device and cuts it into transfers.
//
// A run of records that stand one after another is one stretch: header pages, the caller's pieces
// and padding become scattered requests of transfer_bytes each, wherever records begin. Memory
// that the device's alignment refuses goes through a bounce buffer of the transfer.
//
// Ownership: the transfers go to `out`; the memory must stay until they are done. Pure otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/tier/flash_core.h"

namespace forebay::store {

class StreamBuilder {
 public:
  // `prototype`: kind, class, tenant, deadline and op_id of every transfer.
  StreamBuilder(FlashCore& core, const block::Request& prototype, std::vector<Transfer*>& out);

  // A new stretch; page aligned. Ends the one before.
  void begin(std::uint64_t offset_bytes);
  // What is laid from now on belongs to this record.
  void tag(std::uint32_t tag) { tag_ = tag; }
  // Address and size are multiples of the device's alignment.
  void add_aligned(std::byte* memory, std::size_t bytes);
  // `data_bytes` from pieces of any alignment, then padding up to a whole page.
  void add_data(std::span<const iovec> pieces, std::size_t data_bytes);
  // Hands out the last transfer.
  void end();

 private:
  void add_copied(std::byte* memory, std::size_t bytes);
  void add_piece(std::byte* memory, std::size_t bytes);
  void add_padding(std::size_t bytes);
  // How much the current transfer still takes; makes one if there is none, cuts it if it is full.
  [[nodiscard]] std::size_t room();
  void cut();

  FlashCore& core_;
  block::Request prototype_;
  std::vector<Transfer*>& out_;
  Transfer* current_ = nullptr;
  std::uint64_t position_ = 0;  // of the next byte on the device
  std::uint32_t tag_ = 0;
};

}  // namespace forebay::store

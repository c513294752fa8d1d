// A command of a connection, from its capsule to its response.
//
//   free → receiving (in-capsule data) ─────────────┐
//        → waiting (for memory) → ready to transfer ┴→ executing → sending → free
//                                                      held (async event) ↗
#pragma once

#include <cstdint>
#include <string_view>

#include "nvme/target/buffer_pool.h"
#include "nvme/target/exchange.h"
#include "nvme/target/memory_share.h"
#include "nvme/target/sgl_use.h"

namespace forebay::nvme::target {

class Connection;

enum class SlotState : std::uint8_t {
  kFree,
  kReceiving,     // its capsule is coming in
  kWaiting,       // for memory
  kAwaitingData,  // R2T was queued or sent: H2CData may come
  kExecuting,     // with its handler or device
  kSending,       // data and response are queued or on their way
};
[[nodiscard]] std::string_view to_string(SlotState state);

struct CommandSlot {
  Connection* connection = nullptr;
  std::uint16_t tag = 0;  // its transfer tag: the place in the connection's table
  SlotState state = SlotState::kFree;
  Exchange exchange;
  SglUse use;
  std::uint32_t received_bytes = 0;  // of the data from the host
  bool ready_due = false;            // an R2T is to be sent, not a response
  bool intact = true;                // no data digest was wrong
  BufferPool::Lease memory;
  BufferPool::Waiter wait;
  MemoryShare* charged_to = nullptr;  // whose share its transfer memory is of, or is waited for
  CommandSlot* next = nullptr;        // in the queue to send

  // Data and scratch lie behind each other in one lease.
  [[nodiscard]] std::span<std::byte> data() const {
    return memory.bytes().first(std::min<std::size_t>(use.data_bytes, memory.bytes().size()));
  }
};

}  // namespace forebay::nvme::target

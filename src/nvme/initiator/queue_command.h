// A command on its way through a queue of the initiator: caller-owned, with a callback.
//
// Ownership: the command and the memory that it names stay until on_done ran; then nothing, the
// kernel included, touches them any more. Threads: one loop's.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "core/error.h"
#include "nvme/command.h"

namespace forebay::nvme::initiator {

struct QueueCommand {
  Sqe sqe;  // opcode, namespace, dwords 10 to 15; identifier, flags and SGL are the queue's
  DataDirection direction = DataDirection::kNone;
  std::uint32_t data_bytes = 0;     // the sum of `pieces`
  std::span<const iovec> pieces;    // read into, or written from; each a multiple of 4 bytes
  CommandStatus status;             // when an answer came
  Result<std::uint64_t> result{0};  // dwords 0 and 1 of the answer, or why there is none
  void (*on_done)(QueueCommand&) = nullptr;  // exactly once
  void* context = nullptr;                   // the caller's

  bool untimed = false;    // an answer may take as long as it takes
  bool sent = false;       // a part of it may have reached the controller
  bool overdue = false;    // it was not answered in the owner's time
  std::uint16_t slot = 0;  // owned by the queue while it is there
};

}  // namespace forebay::nvme::initiator

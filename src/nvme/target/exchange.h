// One command on its way through the target: what the host sent, where its data is, what it gets.
//
// A transport (target/connection.h) fills `sqe`, `in` and `out`; the queue's handler executes it
// and sets `status` and `result`, at once or later. Ownership: the transport owns the Exchange and
// its data until it is done. Threads: the core of the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvme/command.h"
#include "nvme/target/io_work.h"

namespace forebay::nvme::target {

struct Namespace;

enum class Progress : std::uint8_t { kDone, kLater };

struct Exchange {
  Sqe sqe;
  std::span<std::byte> in;   // from the host, all of it; aligned for devices, as are the others
  std::span<std::byte> out;  // for the host, not zeroed; exactly what its SGL describes
  std::span<std::byte> scratch;
  std::uint32_t scratch_bytes = 0;  // what check() asks for; multiples of 4096
  CommandStatus status;
  std::uint64_t result = 0;
  // After kLater: exactly once, unless the connection ended first and dropped() was called.
  void (*on_done)(Exchange&) = nullptr;
  void* context = nullptr;  // the transport's
  IoWork io;                // the state of a command that goes to a device
  Namespace* on = nullptr;  // set by an I/O queue's check()

  void finish(CommandStatus with) {
    status = with;
    on_done(*this);
  }
};

// What a queue does with commands: unconnected, admin or I/O.
class QueueHandler {
 public:
  virtual ~QueueHandler() = default;
  // Before any data moves, by the command alone: a status that is not ok ends it.
  // `data_bytes` is what its SGL describes.
  [[nodiscard]] virtual CommandStatus check(Exchange& exchange, std::uint32_t data_bytes) = 0;
  // Sets status and result on kDone.
  [[nodiscard]] virtual Progress execute(Exchange& exchange) = 0;
  // The connection ends: a command that is held (kLater, without device) will never be answered.
  virtual void drop(Exchange& exchange) = 0;
};

}  // namespace forebay::nvme::target

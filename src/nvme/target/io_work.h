// The device requests of one command, one after another: a transfer larger than the device takes
// goes in pieces, a durable write is followed by a flush.
//
// Ownership: lives in the Exchange; its memory must stay until on_done. Errors of the device become
// a status (io_status()), never success. Threads: the core of the device's loop.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "block/device.h"
#include "nvme/status.h"
#include "nvme/target/io_plan.h"

namespace forebay::nvme::target {

struct Exchange;

// What a device's error means to a host (media errors are final).
[[nodiscard]] CommandStatus io_status(const Error& error, IoKind kind);

enum class IoState : std::uint8_t { kIdle, kMoving, kFlushing };

class IoWork {
 public:
  IoPlan plan;  // set by the queue's check()
  block::Device* device = nullptr;

  // Ends through exchange.finish(), which may happen before start() returns.
  void start(Exchange& exchange);
  [[nodiscard]] IoState state() const { return state_; }
  // In flight at the device: memory must stay.
  [[nodiscard]] bool busy() const { return state_ != IoState::kIdle; }

 private:
  void next_piece();
  void next_range();
  void submit(block::RequestKind kind, std::uint64_t offset, std::uint64_t length);
  void on_request_done();
  void flush();
  void finish(CommandStatus status);
  [[nodiscard]] std::span<std::byte> memory() const;
  [[nodiscard]] bool ranges_fit() const;
  [[nodiscard]] CommandStatus after_last() const;

  Exchange* exchange_ = nullptr;
  IoState state_ = IoState::kIdle;
  block::Request request_;
  iovec piece_{};
  std::uint64_t moved_bytes_ = 0;  // of plan.length_bytes
};

}  // namespace forebay::nvme::target

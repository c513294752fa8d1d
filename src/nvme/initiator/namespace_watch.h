// How a host hears that its namespace changed, command by command (Base Specification 2.0, 5.2 and
// 5.16): one Asynchronous Event Request is with the controller at all times.
//
//   enable ─▶ identify ─▶ wait ──event──▶ read log ─▶ ours is in it: identify ─▶ wait
//                                                     it is not ─────────────▶ wait
//
// A command that fails ends it: off. It looks first, since what changed before it was enabled is
// not told.
//
//   watch.prepare();       submit watch.command() on the admin queue; in its on_done:
//   watch.take();          until state() is kOff; true: facts() are new
//
// Reading the log is what lets the controller tell the next change. Pure. Threads: one loop's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "nvme/initiator/controller_setup.h"

namespace forebay::nvme::initiator {

enum class WatchState : std::uint8_t { kEnable, kWait, kReadLog, kIdentify, kOff };
[[nodiscard]] std::string_view to_string(WatchState state);

class NamespaceWatch {
 public:
  NamespaceWatch(std::uint32_t namespace_id, const ControllerFacts& facts);

  [[nodiscard]] WatchState state() const { return state_; }
  [[nodiscard]] QueueCommand& command() { return command_; }
  // Makes command() the one of this state; on_done and context stay.
  void prepare();
  // Reads the answer and moves on. True: facts() are those of the changed namespace, or say why
  // there is none (kNotFound) or none of use.
  [[nodiscard]] bool take();
  [[nodiscard]] const Result<ControllerFacts>& facts() const { return facts_; }

 private:
  void take_event();
  void take_log();
  void take_namespace();
  void ask_page(AdminOpcode opcode);

  std::uint32_t namespace_id_;
  ControllerFacts base_;  // of the controller
  Result<ControllerFacts> facts_;
  WatchState state_ = WatchState::kEnable;
  std::uint8_t log_page_ = 0;
  QueueCommand command_;
  std::unique_ptr<std::byte[]> page_;
  iovec piece_{};
};

}  // namespace forebay::nvme::initiator

// The authentication that a queue goes through after Connect, and again while it works.
//
// Ownership: the queue's, for as long as it lives: the command may be on its way to the end.
#pragma once

#include <array>

#include "nvme/auth/host_side.h"
#include "nvme/initiator/queue_command.h"

namespace forebay::nvme::initiator {

struct QueueAuth {
  auth::HostSide side;
  QueueCommand command;
  iovec piece{};
  std::array<std::byte, auth::kMessageBytesMax> buffer{};

  [[nodiscard]] bool over() const { return !side.sends() && !side.receives(); }
  // Makes `command` the next one that the side asks for.
  void prepare();
  // Hands its answer to the side.
  void take();
};

}  // namespace forebay::nvme::initiator

// Where one command of a queue stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nvme/initiator/queue_command.h"
#include "nvme/initiator/scatter_cursor.h"

namespace forebay::nvme::initiator {

enum class SlotState : std::uint8_t {
  kFree,
  kQueued,    // the capsule is not sent yet
  kAwaiting,  // data or the answer is due from the controller
  kSending,   // data that the controller asked for is due from here
  kAnswered,  // done, but the kernel still sends from its memory
};
[[nodiscard]] std::string_view to_string(SlotState state);

struct Slot {
  std::uint16_t index = 0;
  std::uint16_t generation = 0;  // part of the identifier, changes with every use
  SlotState state = SlotState::kFree;
  QueueCommand* command = nullptr;  // null: abandoned; the answer is still due
  std::optional<Error> abandoned;   // for when its data PDU has ended

  DataDirection direction = DataDirection::kNone;
  std::uint32_t data_bytes = 0;
  bool in_capsule = false;
  ScatterCursor cursor;

  std::uint32_t received_bytes = 0;
  bool last_received = false;
  bool damaged = false;  // a data digest did not fit

  std::uint32_t asked_bytes = 0;  // by all R2Ts so far
  std::uint32_t due_bytes = 0;    // of them, not yet in a send
  std::uint16_t transfer_tag = 0;

  std::uint32_t ticks = 0;  // since it was taken
  bool in_batch = false;    // the present send reads its memory
  Cqe cqe;
  Slot* next = nullptr;
};

}  // namespace forebay::nvme::initiator

// What a host asks a controller before it uses a namespace, as one state after another.
//
//   read capabilities ─▶ enable ─▶ await ready ─▶ identify controller ─▶ count queues ─▶
//   identify namespace ─▶ done
//
//   setup.prepare();                submit setup.command() on the admin queue; in its on_done:
//   setup.take();                   an error says why this controller is of no use
//
// The caller asks again while the state is kAwaitReady, at its own pace. Pure. Sections are those
// of the Base Specification 2.0 and of the NVM Command Set 1.0.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "nvme/cache_epoch.h"
#include "nvme/identity.h"
#include "nvme/initiator/queue_command.h"

namespace forebay::nvme::initiator {

enum class SetupState : std::uint8_t {
  kReadCapabilities,
  kEnable,
  kAwaitReady,
  kIdentifyController,
  kCountQueues,
  kIdentifyNamespace,
  kDone,
};
[[nodiscard]] std::string_view to_string(SetupState state);

struct SetupWishes {
  std::uint16_t controller_id = 0;  // of the answer to Connect
  std::uint32_t namespace_id = 1;
  std::uint16_t io_queues = 1;
};

struct ControllerFacts {
  std::uint32_t entries_max = 0;  // of a queue
  Nanos ready_time_max{};         // after which a controller that is not ready never will be
  std::uint16_t io_queues = 0;    // granted, at most those wished
  bool keeps_alive = false;       // it has the Keep Alive command
  std::uint32_t capsule_data_bytes_max = 0;
  std::uint32_t transfer_bytes_max = 0;  // of one command
  std::uint32_t abort_count_max = 1;     // Abort commands at a time
  bool volatile_cache = false;           // Flush means something
  bool namespace_events = false;         // it tells of changes
  bool deallocates = false;              // Dataset Management
  bool reserves = false;                 // Write Exclusive reservations of this namespace
  std::string model;
  std::uint32_t block_bytes = 0;  // a power of two
  std::uint64_t block_count = 0;
  bool write_protected = false;
  CacheEpoch cache_epoch{};  // zeroes: the controller tells none
  Uuid nguid{};              // likewise
};

// Reads the page of Identify Namespace into the facts that are the namespace's. kNotFound: it is
// not active; kUnsupported: of no use here.
[[nodiscard]] Status read_namespace(std::span<const std::byte> page, ControllerFacts& facts);

class ControllerSetup {
 public:
  explicit ControllerSetup(const SetupWishes& wishes);

  [[nodiscard]] SetupState state() const { return state_; }
  [[nodiscard]] const ControllerFacts& facts() const { return facts_; }
  // CC as it was set; from kEnable on.
  [[nodiscard]] std::uint32_t configuration() const { return configuration_; }
  [[nodiscard]] QueueCommand& command() { return command_; }
  // Makes command() the one of this state; on_done and context stay.
  void prepare();
  // Reads the answer and moves on. What failed is in the error: kUnsupported, kNotFound, kIo, or
  // the command's own.
  [[nodiscard]] Status take();

 private:
  [[nodiscard]] Status take_capabilities();
  [[nodiscard]] Status take_ready();
  [[nodiscard]] Status take_controller();
  [[nodiscard]] Status take_queue_count();
  [[nodiscard]] Status take_namespace();
  void ask_identify(std::uint8_t kind, std::uint32_t namespace_id);
  template <class T>
  [[nodiscard]] T field(std::size_t offset) const;

  SetupWishes wishes_;
  SetupState state_ = SetupState::kReadCapabilities;
  ControllerFacts facts_;
  std::uint32_t page_bytes_ = 4096;  // CAP.MPSMIN
  std::uint32_t configuration_ = 0;  // CC
  QueueCommand command_;
  std::unique_ptr<std::byte[]> page_;  // what Identify answers
  iovec page_piece_{};
};

}  // namespace forebay::nvme::initiator

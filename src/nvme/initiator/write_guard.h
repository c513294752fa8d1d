// How a host becomes the only writer of a namespace, command by command: a Write Exclusive
// reservation (Base Specification 2.0, 7.2 to 7.5), as a file's lock is for a file.
//
//   register ─▶ acquire ─▶ held        conflict: report ─▶ the holder has a controller: wait, then
//                                      refused; it has none (it crashed): preempt ─▶ held
//   again (after a reconnect): report ─▶ still registered: acquire; else register only where nobody
//   else ever was since the target began, for who was may have written. A controller of this host
//   from before is waited for: as long as the target has it, what was sent to it may still land.
//
//   guard.prepare();       submit guard.command() on an I/O queue; in its on_done:
//   guard.take(now);       until state() is kHeld or kRefused
//
// The key follows from the host identifier, which each opened device has for itself. Pure. Threads:
// one loop's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/clock.h"
#include "nvme/initiator/queue_command.h"
#include "nvme/reservation.h"

namespace forebay::nvme::initiator {

enum class GuardState : std::uint8_t {
  kLook,  // whether what was held is held still
  kRegister,
  kAcquire,
  kReport,  // who holds it
  kPreempt,
  kHeld,
  kWithdraw,  // unregister, then kRefused
  kRefused,
  kRelease,  // unregister, which releases too, then kReleased
  kReleased,
};
[[nodiscard]] std::string_view to_string(GuardState state);

struct GuardWishes {
  std::uint32_t namespace_id = 1;
  std::uint16_t controller_id = 0;  // this host's
  std::array<std::byte, 16> host_id{};
  bool again = false;     // it was held before the connection was lost
  bool takeover = false;  // also from a holder of which the target does not say whether it is there
  Nanos patience = std::chrono::seconds(1);  // with a holder that is there, as for a file's lock
  Nanos fence_patience{};                    // again: with this host's controller from before
};

// Between two tries while somebody else holds it.
inline constexpr Nanos kGuardPollTime = std::chrono::milliseconds(50);

class WriteGuard {
 public:
  explicit WriteGuard(const GuardWishes& wishes);

  [[nodiscard]] GuardState state() const { return state_; }
  [[nodiscard]] QueueCommand& command() { return command_; }
  // Makes command() the one of this state; on_done and context stay.
  void prepare();
  // Reads the answer and moves on.
  void take(Nanos now);
  // The next command is due only after kGuardPollTime.
  [[nodiscard]] bool waits() const { return waits_; }
  // kHeld only: ends it.
  void release();

  // kHeld, again: nothing that was sent before the connection was lost can land any more.
  [[nodiscard]] bool fenced() const { return fenced_; }
  // kRefused: why. kExists: another process has it.
  [[nodiscard]] const Error& refusal() const { return *refusal_; }
  // Who held it when a report was last read.
  [[nodiscard]] const std::array<std::byte, 16>& holder() const { return holder_.host_id; }

 private:
  struct Report {
    std::uint32_t generation = 0;
    bool registered = false;   // this host is
    bool tells_hosts = false;  // entries name controllers: this host's own is right
    bool was_here = false;     // this host has another controller, from before
    bool held = false;
    bool holder_there = false;
    ReservationEntry holder;
  };
  [[nodiscard]] Report read_report() const;
  void take_look(Nanos now);
  void take_acquire(Nanos now);
  void take_report(Nanos now);
  void refuse(const Error& error);
  void ask_keys(IoOpcode opcode, std::uint32_t dword10, ReservationKeys keys,
                std::uint32_t data_bytes);
  [[nodiscard]] bool conflicts() const;

  GuardWishes wishes_;
  std::uint64_t key_;
  GuardState state_;
  bool registered_ = false;
  bool waits_ = false;
  bool fenced_ = false;
  std::optional<Nanos> until_;
  std::optional<Error> refusal_;
  ReservationEntry holder_;
  QueueCommand command_;
  std::unique_ptr<std::byte[]> page_;  // what Report answers
  ReservationKeys keys_;
  iovec piece_{};
};

}  // namespace forebay::nvme::initiator

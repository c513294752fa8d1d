#include "nvme/initiator/write_guard.h"

#include <algorithm>
#include <span>

#include "core/bytes.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::uint32_t kPageBytes = 4096;  // of a report: the header and 63 entries
constexpr std::uint32_t kType = static_cast<std::uint32_t>(ReservationType::kWriteExclusive)
                                << kReservationTypeShift;
constexpr Error kOpenElsewhere{Errc::kExists, "nvme: another process has it open"};
constexpr Error kHadMeanwhile{
    Errc::kExists,
    "nvme: another process may have written to it meanwhile; it must be opened again"};
constexpr Error kNotTold{Errc::kExists,
                         "nvme: another process has it open, or had when it ended: the target does "
                         "not tell which; takeover=on takes it"};

// Never 0, which names nobody when it is preempted.
std::uint64_t key_of(const std::array<std::byte, 16>& host_id) {
  return std::max<std::uint64_t>(load_as<std::uint64_t>(std::span(host_id)), 1);
}

}  // namespace

std::string_view to_string(GuardState state) {
  constexpr std::array<std::string_view, 10> kNames{"look",    "register", "acquire",  "report",
                                                    "preempt", "held",     "withdraw", "refused",
                                                    "release", "released"};
  return kNames[static_cast<std::size_t>(state)];
}

WriteGuard::WriteGuard(const GuardWishes& wishes)
    : wishes_(wishes),
      key_(key_of(wishes.host_id)),
      state_(wishes.again ? GuardState::kLook : GuardState::kRegister),
      page_(std::make_unique<std::byte[]>(kPageBytes)) {}

void WriteGuard::ask_keys(IoOpcode opcode, std::uint32_t dword10, ReservationKeys keys,
                          std::uint32_t data_bytes) {
  keys_ = keys;
  piece_ = {&keys_, data_bytes};
  command_.sqe.opcode = static_cast<std::uint8_t>(opcode);
  command_.sqe.dwords10[0] = dword10;
  command_.direction = DataDirection::kFromHost;
  command_.data_bytes = data_bytes;
  command_.pieces = {&piece_, 1};
}

void WriteGuard::prepare() {
  constexpr auto kUnregister = static_cast<std::uint32_t>(RegisterAction::kUnregister);
  constexpr auto kPreempting = static_cast<std::uint32_t>(AcquireAction::kPreempt);
  waits_ = false;
  command_.sqe = Sqe{};
  command_.sqe.namespace_id = wishes_.namespace_id;
  command_.status = {};
  switch (state_) {
    case GuardState::kRegister:
      return ask_keys(IoOpcode::kReservationRegister, 0, {.other = key_}, sizeof keys_);
    case GuardState::kAcquire:
      return ask_keys(IoOpcode::kReservationAcquire, kType, {.current = key_}, sizeof keys_);
    case GuardState::kPreempt:
      return ask_keys(IoOpcode::kReservationAcquire, kType | kPreempting,
                      {.current = key_, .other = holder_.key}, sizeof keys_);
    case GuardState::kWithdraw:
    case GuardState::kRelease:
      return ask_keys(IoOpcode::kReservationRegister, kUnregister, {.current = key_}, sizeof keys_);
    case GuardState::kLook:
    case GuardState::kReport:
      std::fill_n(page_.get(), kPageBytes, std::byte{0});
      piece_ = {page_.get(), kPageBytes};
      command_.sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kReservationReport);
      command_.sqe.dwords10[0] = kPageBytes / 4 - 1;  // NUMD, from 0
      command_.sqe.dwords10[1] = kExtendedReservationReport;
      command_.direction = DataDirection::kToHost;
      command_.data_bytes = kPageBytes;
      command_.pieces = {&piece_, 1};
      return;
    case GuardState::kHeld:
    case GuardState::kRefused:
    case GuardState::kReleased:
      return;
  }
}

bool WriteGuard::conflicts() const {
  return !command_.result && command_.status.code == StatusCode::kReservationConflict;
}

void WriteGuard::refuse(const Error& error) {
  refusal_ = error;
  state_ = registered_ ? GuardState::kWithdraw : GuardState::kRefused;
}

void WriteGuard::release() { state_ = GuardState::kRelease; }

void WriteGuard::take(Nanos now) {
  switch (state_) {
    case GuardState::kLook:
      return take_look(now);
    case GuardState::kRegister:
      if (!command_.result) return refuse(conflicts() ? kOpenElsewhere : command_.result.error());
      registered_ = true;
      state_ = GuardState::kAcquire;
      return;
    case GuardState::kAcquire:
      return take_acquire(now);
    case GuardState::kReport:
      return take_report(now);
    case GuardState::kPreempt:
      // Somebody else was faster, or the holder left by itself.
      if (conflicts()) {
        state_ = GuardState::kReport;
      } else if (!command_.result) {
        refuse(command_.result.error());
      } else {
        state_ = GuardState::kHeld;
      }
      return;
    case GuardState::kWithdraw:
      state_ = GuardState::kRefused;
      return;
    case GuardState::kRelease:
      state_ = GuardState::kReleased;
      return;
    case GuardState::kHeld:
    case GuardState::kRefused:
    case GuardState::kReleased:
      return;
  }
}

// Of entries that fit the page; a holder beyond it is nobody's that we could judge.
WriteGuard::Report WriteGuard::read_report() const {
  const std::span<const std::byte> page(page_.get(), kPageBytes);
  const auto header = load_as<ReservationReport>(page);
  Report report;
  report.generation = header.generation;
  report.held = header.type != ReservationType::kNone;
  const std::size_t listed = header.registered[0] + std::size_t{256} * header.registered[1];
  const std::size_t fitting = (kPageBytes - sizeof header) / sizeof(ReservationEntry);
  bool found = false;
  for (std::size_t i = 0; i < std::min(listed, fitting); ++i) {
    const auto entry =
        load_as<ReservationEntry>(page.subspan(sizeof header + i * sizeof(ReservationEntry)));
    if (entry.host_id == wishes_.host_id) {
      report.registered = report.registered || entry.key == key_;
      const bool own = entry.controller_id == wishes_.controller_id;
      report.tells_hosts = report.tells_hosts || own;
      report.was_here = report.was_here || (!own && entry.controller_id != kNoController);
    } else if ((entry.status & kHoldsReservation) != 0) {
      found = true;
      report.holder = entry;
      report.holder_there = report.holder_there || entry.controller_id != kNoController;
    }
  }
  if (report.held && !found) report.holder_there = true;
  return report;
}

void WriteGuard::take_look(Nanos now) {
  if (!command_.result) return refuse(command_.result.error());
  const Report report = read_report();
  holder_ = report.holder;
  if (report.registered) {
    registered_ = true;
    fenced_ = report.tells_hosts && !report.was_here;
    if (!until_) until_ = now + wishes_.fence_patience;
    waits_ = report.tells_hosts && report.was_here && now < *until_;
    if (!waits_) state_ = GuardState::kAcquire;
  } else if (report.generation == 0) {
    fenced_ = true;
    state_ = GuardState::kRegister;  // the target began anew, and nobody came before us
  } else {
    refuse(kHadMeanwhile);
  }
}

void WriteGuard::take_acquire(Nanos now) {
  if (command_.result) {
    state_ = GuardState::kHeld;
  } else if (!conflicts()) {
    refuse(command_.result.error());
  } else if (wishes_.again) {
    refuse(kHadMeanwhile);
  } else {
    if (!until_) until_ = now + wishes_.patience;
    state_ = GuardState::kReport;
  }
}

void WriteGuard::take_report(Nanos now) {
  if (!command_.result) return refuse(command_.result.error());
  const Report report = read_report();
  holder_ = report.holder;
  const bool gone = report.held && !report.holder_there;
  if (gone && (report.tells_hosts || wishes_.takeover)) {
    state_ = GuardState::kPreempt;
  } else if (now >= *until_) {
    refuse(gone ? kNotTold : kOpenElsewhere);
  } else {
    waits_ = true;
    state_ = GuardState::kAcquire;
  }
}

}  // namespace forebay::nvme::initiator

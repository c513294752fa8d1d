// The connection of a fabric device: made, lost, made again.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes.h"
#include "core/hash.h"
#include "core/log.h"
#include "nvme/initiator/fabric_device.h"

namespace forebay::nvme::initiator {
namespace {

// Of an attempt after the first connection, at most: a target that comes back should be found soon.
constexpr Nanos kAgainTime = std::chrono::seconds(10);
constexpr Nanos kBackOffMin = std::chrono::milliseconds(100);
constexpr Nanos kBackOffMax = std::chrono::seconds(5);
constexpr std::uint32_t kAlignBytesMin = 4096;  // as a file's, so that a store looks the same
// Of one request; a command may take less.
constexpr std::uint32_t kRequestBytesMax = 4 * kMiB;
constexpr Error kOtherDisk{Errc::kExists, "nvme: another disk has taken its place"};
constexpr Error kOtherSize{Errc::kExists, "nvme: the namespace has another size than before"};
constexpr Error kClosed{Errc::kCancelled, "nvme: the device is being closed"};

}  // namespace

std::string_view to_string(FabricState state) {
  constexpr std::array<std::string_view, 6> kNames{"opening", "failed", "ready",
                                                   "lost",    "down",   "closing"};
  return kNames[static_cast<std::size_t>(state)];
}

FabricDevice::~FabricDevice() {
  // As a file does: what was submitted ends first, unless there is nobody to end it.
  const auto busy = [this] { return free_jobs_.size() < jobs_.size(); };
  while (state_ == FabricState::kReady && busy()) loop_.turn();
  state_ = FabricState::kClosing;
  connect_timer_.cancel();
  lost_timer_.cancel();
  deadline_timer_.cancel();
  drop_waiting(kClosed, kForever);
  if (association_) association_->shut_down();
  while (association_) loop_.turn();
}

Result<std::unique_ptr<FabricDevice>> FabricDevice::open(io::Loop& loop,
                                                         const FabricOptions& options) {
  std::unique_ptr<FabricDevice> device(new FabricDevice(loop, options));
  device->options_.association.guard = options.write;
  device->opened_at_ = loop.now();
  device->connect();
  while (device->state_ == FabricState::kOpening) loop.turn();
  if (device->state_ == FabricState::kFailed) return std::unexpected(device->open_error_);
  return device;
}

std::string FabricDevice::describe() const {
  return fmt::format("{} ({}, {} queue{}, commands of {}, blocks of {})", options_.name,
                     facts_.model, facts_.io_queues, facts_.io_queues == 1 ? "" : "s",
                     format_bytes(facts_.transfer_bytes_max), facts_.block_bytes);
}

void FabricDevice::connect() {
  const PeerAddress& address = options_.addresses[next_address_];
  next_address_ = (next_address_ + 1) % options_.addresses.size();
  AssociationOptions wishes = options_.association;
  wishes.connect_time = attempt_time();
  ++attempts_;
  Association::Owner& self = *this;
  association_ = std::make_unique<Association>(loop_, self, wishes);
  association_->start(address);
}

void FabricDevice::on_ready(Association& association) {
  const bool cache_kept = take_cache(association.facts());
  if (const Status taken = take_geometry(association.facts()); !taken) {
    return association.close(taken.error());
  }
  if (const Status guarded = take_guard(association); !guarded) {
    return association.close(guarded.error());
  }
  if (state_ != FabricState::kOpening) {
    log_info("{}: connected again after {} ms", options_.name,
             (loop_.now() - lost_at_) / std::chrono::milliseconds(1));
  }
  lost_timer_.cancel();
  attempts_ = 0;
  // From now on the address that works is the one to try first.
  next_address_ = (next_address_ + options_.addresses.size() - 1) % options_.addresses.size();
  state_ = FabricState::kReady;
  const WriteGuard* guard = association.guard();
  sort_again(guard != nullptr && guard->fenced(), cache_kept);
  pump();
}

// Whether every acknowledged write is where it was.
bool FabricDevice::take_cache(const ControllerFacts& facts) {
  const bool same = facts.cache_epoch != CacheEpoch{} && facts.cache_epoch == facts_.cache_epoch;
  const bool kept = same || !facts_.volatile_cache || written_ == flushed_;
  if (!kept) cache_lost_ = true;
  if (!kept) flushed_ = written_;
  return kept;
}

// Opening fails where another process has it; a device that is open goes on reading.
Status FabricDevice::take_guard(const Association& association) {
  const bool opening = state_ == FabricState::kOpening;
  const WriteGuard* guard = association.guard();
  if (guard != nullptr && guard->state() == GuardState::kRefused) {
    if (opening && guard->refusal().code == Errc::kExists) {
      log_warn("{}: host {} has it open", options_.name, to_hex(guard->holder()));
    }
    if (opening) return std::unexpected(guard->refusal());
    lose_guard(guard->refusal());
  } else if (guard == nullptr && options_.association.guard_again) {
    lose_guard({Errc::kExists, "nvme: the target offers no reservations any more"});
  } else if (opening && guard == nullptr && !geometry_.read_only) {
    log_warn("{}: the target offers no reservations: nothing keeps another process from writing",
             options_.name);
  }
  options_.association.guard_again = guard != nullptr;
  return {};
}

void FabricDevice::lose_guard(const Error& why) {
  if (guard_lost_ || !options_.write) return;
  guard_lost_ = why;
  options_.association.guard = false;
  log_warn("{}: {}; it takes no writes any more", options_.name, to_string(why));
}

// It is not the disk that was opened: nothing is written to it, and nothing read from it.
Status FabricDevice::refuse_for_good(const Error& why) {
  if (!options_.write && !std::exchange(other_disk_told_, true)) {
    log_warn("{}: {}", options_.name, to_string(why));
  }
  lose_guard(why);
  drop_waiting(why, kForever);
  return std::unexpected(why);
}

// The first connection says what the device is; later ones must find the same.
Status FabricDevice::take_geometry(const ControllerFacts& facts) {
  const std::uint32_t align = std::max(kAlignBytesMin, facts.block_bytes);
  const std::uint64_t size = round_down(facts.block_count * facts.block_bytes, align);
  if (facts.transfer_bytes_max < align) {
    return fail(Errc::kUnsupported, "nvme: the controller's commands are smaller than a block");
  }
  if (state_ == FabricState::kOpening) {
    if (size == 0) return fail(Errc::kInvalid, "open device: it is empty");
    geometry_ = {.size_bytes = size,
                 .align_bytes = align,
                 .transfer_bytes_max = kRequestBytesMax,
                 .direct = true,
                 .read_only = !options_.write || facts.write_protected};
  } else if (facts.nguid != facts_.nguid) {
    return refuse_for_good(kOtherDisk);
  } else if (facts.block_bytes != facts_.block_bytes || size < geometry_.size_bytes) {
    return refuse_for_good(kOtherSize);
  }
  take_size(size);
  facts_ = facts;
  return {};
}

void FabricDevice::take_size(std::uint64_t size_bytes) {
  if (size_bytes == geometry_.size_bytes) return;
  log_warn("{}: the namespace has {} now; it had {}", options_.name, format_bytes(size_bytes),
           format_bytes(geometry_.size_bytes));
  geometry_.size_bytes = size_bytes;
}

void FabricDevice::on_namespace_changed(Association& association,
                                        const Result<ControllerFacts>& facts) {
  if (!facts) return log_warn("{}: {}", options_.name, to_string(facts.error()));
  if (facts->nguid != facts_.nguid) {
    (void)refuse_for_good(kOtherDisk);
    return association.close(kOtherDisk);  // and each later one is refused, as long as it is there
  }
  if (facts->block_bytes != facts_.block_bytes) {
    return log_warn("{}: the namespace has blocks of another size now: open it again",
                    options_.name);
  }
  take_size(round_down(facts->block_count * facts->block_bytes, geometry_.align_bytes));
  geometry_.read_only = !options_.write || facts->write_protected;
  facts_ = *facts;
}

void FabricDevice::on_ended(Association& association) {
  const Error error = association.end_error();
  if (state_ == FabricState::kOpening && !association.strange_answer().empty()) {
    log_warn("{}: the answer begins with \"{}\"", options_.name, association.strange_answer());
  }
  association_.reset();
  if (state_ == FabricState::kClosing) return;
  if (state_ == FabricState::kReady) {
    log_warn("{}: connection lost: {}; connecting again", options_.name, to_string(error));
    ++counters_.connections_lost;
    enter_lost();
  } else {
    ++counters_.connect_failures;
    log_debug("{}: connect: {}", options_.name, to_string(error));
  }
  // Who has it open has it at every address.
  const bool last = attempts_ >= options_.addresses.size() || error.code == Errc::kExists;
  if (state_ == FabricState::kOpening && last) {
    open_error_ = error;
    state_ = FabricState::kFailed;
    return;
  }
  if (state_ == FabricState::kOpening) return connect();
  connect_later();
}

// While it opens, addresses share the time that there is: each has its part of what is left.
Nanos FabricDevice::attempt_time() const {
  const Nanos whole = options_.association.connect_time;
  if (state_ != FabricState::kOpening) return std::min(whole, kAgainTime);
  const auto left = static_cast<std::int64_t>(options_.addresses.size() - attempts_);
  return (opened_at_ + whole - loop_.now()) / std::max<std::int64_t>(left, 1);
}

void FabricDevice::connect_later() {
  const auto doublings = static_cast<unsigned>(std::min<std::size_t>(attempts_, 10));
  loop_.arm(connect_timer_, loop_.now() + std::min(kBackOffMax, kBackOffMin * (1 << doublings)),
            [this] { connect(); });
}

void FabricDevice::enter_lost() {
  state_ = FabricState::kLost;
  lost_at_ = loop_.now();
  loop_.arm(lost_timer_, lost_at_ + options_.lost_time, [this] { enter_down(); });
}

void FabricDevice::enter_down() {
  state_ = FabricState::kDown;
  log_warn("{}: out of reach for {} s; requests fail until it is back", options_.name,
           options_.lost_time / std::chrono::seconds(1));
  drop_waiting({Errc::kGone, "nvme: the target is out of reach"}, kForever);
}

}  // namespace forebay::nvme::initiator

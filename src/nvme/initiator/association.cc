#include "nvme/initiator/association.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.h"
#include "nvme/initiator/queue_limits.h"
#include "nvme/property_command.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::uint16_t kAdminEntries = 32;
constexpr std::uint32_t kAdminCapsuleBytes = 8192;  // every controller takes so much there
constexpr Nanos kReadyPollTime = std::chrono::milliseconds(10);
constexpr Nanos kShutDownTime = std::chrono::seconds(1);
constexpr std::uint32_t kShutDownNormal = 1U << 14;  // CC.SHN
constexpr Error kOver{Errc::kCancelled, "nvme: the device is being closed"};

}  // namespace

std::string_view to_string(AssociationState state) {
  constexpr std::array<std::string_view, 9> kNames{
      "idle",          "connecting", "setting up", "connecting queues", "guarding", "ready",
      "shutting down", "ending",     "ended"};
  return kNames[static_cast<std::size_t>(state)];
}

Association::Association(io::Loop& loop, Owner& owner, const AssociationOptions& options)
    : loop_(loop), owner_(owner), options_(options) {}

Association::~Association() {
  FOREBAY_CHECK(state_ == AssociationState::kIdle || state_ == AssociationState::kEnded);
}

QueueOptions Association::queue_options(std::uint16_t id, std::uint16_t entries) const {
  QueueOptions queue;
  queue.queue_id = id;
  queue.entries = entries;
  queue.digests = options_.digests;
  queue.host = options_.host;
  queue.subsystem_nqn = options_.subsystem_nqn;
  queue.credentials = options_.credentials;
  queue.psk = options_.psk;
  if (id == 0) {
    queue.capsule_data_bytes_max = kAdminCapsuleBytes;
    queue.keep_alive_ms = static_cast<std::uint32_t>(options_.keep_alive / Nanos(1'000'000));
  } else {
    queue.capsule_data_bytes_max = facts().capsule_data_bytes_max;
    queue.controller_id = controller_id();
  }
  return queue;
}

void Association::start(const PeerAddress& address) {
  FOREBAY_CHECK(state_ == AssociationState::kIdle);
  state_ = AssociationState::kConnecting;
  address_ = address;
  loop_.arm(connect_timer_, loop_.now() + options_.connect_time,
            [this] { close({Errc::kTimedOut, "nvme: the target did not answer in time"}); });
  Connection::Owner& self = *this;
  admin_ = std::make_unique<Connection>(loop_, self, address_, queue_options(0, kAdminEntries));
  // The answer to Keep Alive is what shows that a controller is there at all.
  const Nanos patience = options_.keep_alive == Nanos{0}
                             ? options_.command_time
                             : std::max(2 * options_.keep_alive, options_.connect_time);
  admin_->start(options_.connect_time, patience);
}

void Association::on_ready(Connection& /*connection*/) {
  if (state_ == AssociationState::kConnecting) return begin_set_up();
  if (state_ != AssociationState::kConnectingQueues) return;
  const bool all = std::ranges::all_of(
      queues_, [](const auto& queue) { return queue->queue().state() == QueueState::kReady; });
  if (!all) return;
  connect_timer_.cancel();
  const bool guards = options_.guard && facts().reserves && !facts().write_protected;
  guards ? begin_guard() : become_ready();
}

void Association::begin_set_up() {
  state_ = AssociationState::kSettingUp;
  setup_ = std::make_unique<ControllerSetup>(SetupWishes{.controller_id = controller_id(),
                                                         .namespace_id = options_.namespace_id,
                                                         .io_queues = options_.io_queues});
  setup_->command().context = this;
  setup_->command().on_done = [](QueueCommand& command) {
    static_cast<Association*>(command.context)->on_answer();
  };
  ask();
}

void Association::ask() {
  setup_->prepare();
  admin_->submit(setup_->command());
}

void Association::on_answer() {
  if (state_ != AssociationState::kSettingUp) return;  // ending; the admin queue says why
  const SetupState asked = setup_->state();
  if (const Status taken = setup_->take(); !taken) return close(taken.error());
  if (setup_->state() == SetupState::kDone) return connect_queues();
  if (setup_->state() != SetupState::kAwaitReady) return ask();
  if (asked == SetupState::kEnable) ready_until_ = loop_.now() + facts().ready_time_max;
  await_ready();
}

void Association::await_ready() {
  if (loop_.now() > ready_until_) {
    return close({Errc::kTimedOut, "nvme: the controller did not become ready in its own time"});
  }
  loop_.arm(timer_, loop_.now() + kReadyPollTime, [this] {
    if (state_ == AssociationState::kSettingUp && admin_->queue().can_submit()) ask();
  });
}

void Association::connect_queues() {
  state_ = AssociationState::kConnectingQueues;
  const auto entries = static_cast<std::uint16_t>(
      std::min<std::uint32_t>({options_.io_entries, facts().entries_max, kEntriesMax}));
  Connection::Owner& self = *this;
  for (std::uint16_t id = 1; id <= facts().io_queues; ++id) {
    queues_.push_back(
        std::make_unique<Connection>(loop_, self, address_, queue_options(id, entries)));
  }
  for (const auto& queue : queues_) {
    if (state_ != AssociationState::kConnectingQueues) return;  // one could not even start
    queue->start(options_.connect_time, options_.command_time);
  }
}

void Association::begin_guard() {
  state_ = AssociationState::kGuarding;
  guard_ = std::make_unique<WriteGuard>(GuardWishes{.namespace_id = options_.namespace_id,
                                                    .controller_id = controller_id(),
                                                    .host_id = options_.host.id,
                                                    .again = options_.guard_again,
                                                    .takeover = options_.takeover,
                                                    .fence_patience = fence_patience()});
  guard_->command().context = this;
  guard_->command().on_done = [](QueueCommand& command) {
    static_cast<Association*>(command.context)->on_guard_answer();
  };
  ask_guard();
}

// The target ends a controller that it no longer hears after its keep-alive time; it looks once a
// second, and may round up.
Nanos Association::fence_patience() const {
  constexpr Nanos kSlack = std::chrono::seconds(2);
  return options_.keep_alive == Nanos{0} ? Nanos{0} : options_.keep_alive + kSlack;
}

void Association::ask_guard() {
  guard_->prepare();
  queues_.front()->submit(guard_->command());
}

void Association::on_guard_answer() {
  if (state_ == AssociationState::kShuttingDown) return send_shut_down();
  if (state_ != AssociationState::kGuarding) return;  // ending; the queue says why
  guard_->take(loop_.now());
  const GuardState now = guard_->state();
  if (now == GuardState::kHeld || now == GuardState::kRefused) return become_ready();
  if (!guard_->waits()) return ask_guard();
  loop_.arm(timer_, loop_.now() + kGuardPollTime, [this] {
    if (state_ == AssociationState::kGuarding && queues_.front()->queue().can_submit()) ask_guard();
  });
}

void Association::become_ready() {
  state_ = AssociationState::kReady;
  if (facts().keeps_alive && options_.keep_alive != Nanos{0}) arm_keep_alive();
  if (options_.reauthenticate_every != Nanos{0}) arm_authentication();
  if (facts().namespace_events) begin_watch();
  owner_.on_ready(*this);
}

void Association::begin_watch() {
  watch_ = std::make_unique<NamespaceWatch>(options_.namespace_id, facts());
  watch_->command().context = this;
  watch_->command().on_done = [](QueueCommand& command) {
    static_cast<Association*>(command.context)->on_watch_answer();
  };
  ask_watch();
}

void Association::ask_watch() {
  if (!admin_->queue().can_submit()) return;
  watch_->prepare();
  admin_->submit(watch_->command());
}

void Association::on_watch_answer() {
  if (state_ != AssociationState::kReady) return;
  const bool changed = watch_->take();
  if (watch_->state() != WatchState::kOff) ask_watch();
  if (changed) owner_.on_namespace_changed(*this, watch_->facts());
}

void Association::arm_keep_alive() {
  loop_.arm(keep_alive_timer_, loop_.now() + options_.keep_alive / 2, [this] {
    if (state_ != AssociationState::kReady) return;
    send_keep_alive();
    arm_keep_alive();
  });
}

void Association::arm_authentication() {
  loop_.arm(auth_timer_, loop_.now() + options_.reauthenticate_every, [this] {
    if (state_ != AssociationState::kReady) return;
    arm_authentication();
    admin_->reauthenticate();
    for (const auto& queue : queues_) queue->reauthenticate();
  });
}

// One at a time: that one is not answered is what the admin queue's command time is for.
void Association::send_keep_alive() {
  if (keep_alive_sent_ || !admin_->queue().can_submit()) return;
  keep_alive_sent_ = true;
  keep_alive_ = QueueCommand{};
  keep_alive_.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kKeepAlive);
  keep_alive_.context = this;
  keep_alive_.on_done = [](QueueCommand& command) {
    auto& self = *static_cast<Association*>(command.context);
    self.keep_alive_sent_ = false;
    if (self.state_ == AssociationState::kReady && !command.result) {
      self.close(command.result.error());
    }
  };
  admin_->submit(keep_alive_);
}

// As many at a time as the controller takes; of more the connection's own end takes care.
void Association::on_overdue(Connection& connection, std::uint16_t command_id) {
  const std::size_t most = std::min<std::size_t>(aborts_.size(), facts().abort_count_max);
  for (Abort& abort : std::span(aborts_).first(most)) {
    if (abort.on_its_way) continue;
    if (state_ != AssociationState::kReady || !admin_->queue().can_submit()) return;
    abort.on_its_way = true;
    abort.command = QueueCommand{};
    abort.command.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kAbort);
    abort.command.sqe.dwords10[0] =
        connection.queue().id() | (static_cast<std::uint32_t>(command_id) << 16);
    abort.command.context = &abort;
    abort.command.on_done = [](QueueCommand& command) {
      static_cast<Abort*>(command.context)->on_its_way = false;
    };
    return admin_->submit(abort.command);
  }
}

Connection* Association::pick_queue() {
  if (state_ != AssociationState::kReady) return nullptr;
  Connection* best = nullptr;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Connection& queue = *queues_[(next_queue_ + i) % queues_.size()];
    if (!queue.queue().can_submit()) continue;
    if (best == nullptr || queue.queue().free_count() > best->queue().free_count()) best = &queue;
  }
  next_queue_ = (next_queue_ + 1) % queues_.size();
  return best;
}

void Association::shut_down() {
  if (state_ != AssociationState::kReady || !admin_->queue().can_submit()) return close(kOver);
  state_ = AssociationState::kShuttingDown;
  loop_.arm(timer_, loop_.now() + kShutDownTime, [this] { close(kOver); });
  const bool held = guard_ && guard_->state() == GuardState::kHeld;
  if (!held || !queues_.front()->queue().can_submit()) return send_shut_down();
  guard_->release();
  ask_guard();
}

void Association::send_shut_down() {
  if (state_ != AssociationState::kShuttingDown) return;
  if (!admin_->queue().can_submit()) return close(kOver);
  shut_down_.sqe =
      property_set(Property::kConfiguration, setup_->configuration() | kShutDownNormal);
  shut_down_.context = this;
  shut_down_.on_done = [](QueueCommand& command) {
    static_cast<Association*>(command.context)->await_shut_down();
  };
  admin_->submit(shut_down_);
}

// Asks for CSTS until SHST says that shutting down is complete.
void Association::await_shut_down() {
  constexpr std::uint64_t kComplete = 2U << 2;
  constexpr std::uint64_t kShutDownStatus = 3U << 2;
  if (state_ != AssociationState::kShuttingDown) return;
  const bool asked_before =
      shut_down_.sqe.fabrics_type() == static_cast<std::uint8_t>(FabricsType::kPropertyGet);
  const bool complete =
      asked_before && shut_down_.result && (*shut_down_.result & kShutDownStatus) == kComplete;
  if (!shut_down_.result || complete || !admin_->queue().can_submit()) return close(kOver);
  shut_down_.sqe = property_get(Property::kStatus);
  admin_->submit(shut_down_);
}

void Association::close(const Error& error) {
  if (state_ >= AssociationState::kEnding) return;
  state_ = AssociationState::kEnding;
  end_error_ = error;
  connect_timer_.cancel();
  timer_.cancel();
  keep_alive_timer_.cancel();
  auth_timer_.cancel();
  for (const auto& queue : queues_) {
    if (queue->state() != ConnectionState::kIdle) queue->close(error);
  }
  if (admin_) admin_->close(error);
  end_when_closed();
}

void Association::on_closed(Connection& connection) {
  if (state_ < AssociationState::kEnding) return close(connection.queue().end_error());
  end_when_closed();
}

// The end is told by a timer: nobody of this association is on the stack then.
void Association::end_when_closed() {
  const auto over = [](const auto& connection) {
    return connection->state() == ConnectionState::kIdle ||
           connection->state() == ConnectionState::kClosed;
  };
  if (timer_.armed() || (admin_ && !over(admin_)) || !std::ranges::all_of(queues_, over)) return;
  loop_.arm(timer_, loop_.now(), [this] {
    state_ = AssociationState::kEnded;
    owner_.on_ended(*this);
  });
}

}  // namespace forebay::nvme::initiator

#include "nvme/target/target.h"

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "nvme/target/address.h"

namespace forebay::nvme::target {
namespace {

// After an accept that failed (no descriptors left): later, not in a loop.
constexpr Nanos kAcceptAgain = std::chrono::milliseconds(100);
constexpr Nanos kDrainLook = std::chrono::milliseconds(1);

}  // namespace

Target::Target(io::Loop& loop, const TargetOptions& options)
    : loop_(loop),
      options_(options),
      capsule_memory_(options.capsule_memory_bytes),
      transfer_memory_(options.transfer_memory_bytes, reserve_bytes(options.transfer_memory_bytes)),
      host_shares_(transfer_memory_),
      share_{.loop = loop,
             .subsystems = subsystems_,
             .limits = options_.limits,
             .capsule_memory = capsule_memory_,
             .transfer_memory = host_shares_,
             .tls_keys = tls_keys_} {
  auto discovery = std::make_unique<Subsystem>(std::string(kDiscoveryNqn),
                                               SubsystemKind::kDiscovery, options_.limits);
  discovery->discovery_log = [this](const std::string& host_nqn) {
    return make_discovery_log(subsystems_, ports_, subsystems_.size() + ports_.size(), host_nqn);
  };
  subsystems_.push_back(std::move(discovery));
}

Target::~Target() { FOREBAY_CHECK(idle()); }

Subsystem& Target::add_subsystem(const std::string& nqn) {
  subsystems_.push_back(std::make_unique<Subsystem>(nqn, SubsystemKind::kNvm, options_.limits));
  subsystems_.back()->credentials = &credentials_;
  return *subsystems_.back();
}

void Target::set_credentials(const std::string& host_nqn,
                             std::shared_ptr<const auth::Credentials> credentials) {
  credentials_.erase(host_nqn);
  if (credentials != nullptr) credentials_.emplace(host_nqn, std::move(credentials));
}

void Target::set_tls_key(const std::string& host_nqn, const std::optional<tls::TlsKey>& key) {
  tls_keys_.erase(host_nqn);
  if (key) tls_keys_.emplace(host_nqn, *key);
}

Result<std::uint16_t> Target::listen(const std::string& host, std::uint16_t port,
                                     tls::TlsMode mode) {
  FOREBAY_TRY(address, make_address(host, port));
  io::Engine& engine = loop_.engine();
  FOREBAY_TRY(file, engine.listen(&address.storage, address.bytes));
  const auto bound = engine.local_port(file);
  if (!bound) {
    engine.close(file);
    return std::unexpected(bound.error());
  }
  const auto id = static_cast<std::uint16_t>(ports_.size() + 1);
  ports_.push_back({address.family, host, *bound, id, mode});
  listeners_.push_back(std::make_unique<Listener>());
  Listener& listener = *listeners_.back();
  listener.file = file;
  listener.mode = mode;
  listener.target = this;
  accept(listener);
  return *bound;
}

void Target::accept(Listener& listener) {
  listener.accept = io::Op{};
  listener.accept.kind = io::OpKind::kAccept;
  listener.accept.file = listener.file;
  listener.accept.context = &listener;
  listener.accept.on_done = [](io::Op& op) {
    auto& accepted = *static_cast<Listener*>(op.context);
    accepted.target->on_accepted(accepted);
  };
  listener.accepting = loop_.engine().submit(listener.accept).has_value();
  if (!listener.accepting) {
    loop_.arm(accept_again_, loop_.now() + kAcceptAgain, [this, &listener] { accept(listener); });
  }
}

void Target::on_accepted(Listener& listener) {
  listener.accepting = false;
  const auto& done = listener.accept.done_bytes;
  if (!done) {
    if (draining_) return;
    log_warn("nvme: accept: {}", to_string(done.error()));
    loop_.arm(accept_again_, loop_.now() + kAcceptAgain, [this, &listener] { accept(listener); });
    return;
  }
  const auto socket = static_cast<io::FileId>(*done);
  if (draining_ || connections_.size() >= options_.connections_max) {
    log_warn("nvme: a connection was refused: {}",
             draining_ ? "the target ends" : "there are too many");
    loop_.engine().close(socket);
  } else {
    Connection::Owner& owner = *this;
    connections_.push_back(std::make_unique<Connection>(
        share_, owner, Accepted{socket, ++connection_number_, listener.mode}));
    connections_.back()->start();
  }
  if (!draining_) accept(listener);
}

// A controller lives by its admin queue: without it the I/O queues end too.
void Target::on_closing(Connection& closing) {
  if (closing.controller() == nullptr || closing.queue_id() != 0) return;
  for (const auto& connection : connections_) {
    if (connection.get() != &closing && connection->controller() == closing.controller()) {
      connection->close("its controller is gone");
    }
  }
}

void Target::on_closed(Connection& closed) {
  // Later: it is still on the stack.
  loop_.post([this, &closed] {
    std::erase_if(connections_, [&closed](const auto& held) { return held.get() == &closed; });
  });
}

bool Target::idle() const {
  return connections_.empty() &&
         std::ranges::none_of(listeners_, [](const auto& l) { return l->file != io::kNoFile; });
}

// I/O queues first: without its admin queue a controller's I/O queues end unanswered.
void Target::drain_connections() {
  const auto is_io = [](const auto& connection) { return connection->queue_id() != 0; };
  const bool io_left = std::ranges::any_of(connections_, is_io);
  for (const auto& connection : connections_) {
    if (is_io(connection) || !io_left) connection->drain();
  }
}

Task<void> Target::drain(Nanos patience) {
  draining_ = true;
  accept_again_.cancel();
  for (const auto& listener : listeners_) {
    if (listener->accepting) loop_.engine().cancel(listener->accept);
  }
  const Nanos until = loop_.now() + patience;
  while (!idle()) {
    for (const auto& listener : listeners_) {
      if (listener->accepting || listener->file == io::kNoFile) continue;
      loop_.engine().close(std::exchange(listener->file, io::kNoFile));
    }
    drain_connections();
    if (loop_.now() >= until) {
      for (const auto& connection : connections_) connection->close("the target ends, unanswered");
    }
    co_await loop_.sleep_for(kDrainLook);
  }
}

}  // namespace forebay::nvme::target

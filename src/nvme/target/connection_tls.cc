// A connection's way through TLS: how it begins, what the socket brings, what it sends, how it
// ends, and the lines of the log by which an administrator sees who was let in and who was not.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/log.h"
#include "nvme/target/connection.h"
#include "nvme/target/connection_limits.h"

namespace forebay::nvme::target {
namespace {

// For the last words to leave.
constexpr Nanos kGoodbyeTime = std::chrono::seconds(1);

}  // namespace

// False: they are not the parser's.
bool Connection::take_first_bytes(std::size_t size) {
  heard_ = true;
  const std::span<const std::byte> bytes(input_.get(), size);
  const bool secure = bytes[0] == tls::kHandshakeRecord;
  if (secure && mode_ != tls::TlsMode::kOff) {
    begin_tls(bytes);
    return false;
  }
  if (!secure && mode_ != tls::TlsMode::kRequired) return true;
  const char* why = secure ? "it begins with TLS, and this address speaks none"
                           : "it comes without TLS, and this address requires it";
  log_warn("nvme {}: refused: {}: {}", number_, share_.loop.engine().peer_name(socket_), why);
  close(why);
  return false;
}

void Connection::begin_tls(std::span<const std::byte> bytes) {
  tls_ = tls::Session::accept([this](std::string_view identity) {
    const auto named = tls::parse_identity(identity);
    const bool ours = named && std::ranges::any_of(share_.subsystems, [&named](const auto& one) {
                        return one->nqn() == named->parties.subsystem_nqn;
                      });
    return ours ? tls::find_psks(share_.tls_keys, identity) : std::vector<tls::Psk>{};
  });
  tls_->set_records_per_key(share_.limits.tls_records_per_key);
  static_assert(kInputBytes <= tls::kCipherInputBytes);
  std::memcpy(tls_->receive_place().data(), bytes.data(), bytes.size());
  cipher_received(bytes.size());
}

// The next receive() reads what there is.
void Connection::cipher_received(std::size_t size) {
  const bool shaking = tls_->state() == tls::SessionState::kHandshaking;
  tls_->received(size);
  if (shaking && tls_->state() == tls::SessionState::kReady) on_tls_ready();
  if (tls_->state() == tls::SessionState::kFailed) return fail_tls();
  if (!tls_->output().empty()) send();
}

void Connection::on_tls_ready() {
  const tls::Psk& psk = tls_->psk();
  proven_ = tls::parse_identity(psk.identity)->parties;
  channel_.proven = &proven_;
  log_info("nvme {}: {} with host {} for {} from {}, its key by the {} derivation", number_,
           tls::cipher_suite(psk.hash), proven_.host_nqn, proven_.subsystem_nqn,
           share_.loop.engine().peer_name(socket_), tls::to_string(psk.derivation));
}

void Connection::read_plain() {
  while (tls_->state() == tls::SessionState::kReady && !paused_ && !draining_ &&
         state_ < ConnectionState::kClosing) {
    const std::size_t size = tls_->read(receive_place());
    if (size == 0) break;
    feed_pieces(size);
  }
  if (state_ >= ConnectionState::kClosing) return;
  if (tls_->state() == tls::SessionState::kEnded) return close("the host closed");
  if (tls_->state() == tls::SessionState::kFailed) return fail_tls();
  if (!tls_->output().empty()) send();
}

// An alert says so to the host; what it sends meanwhile is dropped.
void Connection::fail_tls() {
  if (state_ >= ConnectionState::kTerminating) return;
  const bool known = channel_.proven != nullptr;
  log_warn("nvme {}: {}: {}: {}{}{}", number_, known ? "TLS" : "refused",
           share_.loop.engine().peer_name(socket_), to_string(tls_->error()),
           tls_->detail().empty() ? "" : ": ", tls_->detail());
  if (tls_->output().empty() && !sending_) return close(tls_->error().what);
  state_ = ConnectionState::kTerminating;
  drop_commands();
  share_.loop.arm(timer_, share_.loop.now() + kGoodbyeTime, [this] { close(tls_->error().what); });
  send();
}

std::span<const iovec> Connection::cipher_place() {
  const auto place = tls_->receive_place();
  cipher_in_ = {place.data(), place.size()};
  return {&cipher_in_, 1};
}

// Of what is left of the batch, as much as the session takes, behind what it has to say itself.
std::span<const iovec> Connection::take_cipher() {
  if (taken_bytes_ == 0) taken_bytes_ = tls_->write(outgoing_.rest());
  const auto output = tls_->output();
  cipher_out_ = {const_cast<std::byte*>(output.data()), output.size()};  // it is only read
  return output.empty() ? std::span<const iovec>{} : std::span<const iovec>{&cipher_out_, 1};
}

// A host that hears nothing must take the end for a cut.
void Connection::say_goodbye() {
  tls_->close();
  if (tls_->output().empty()) return;
  outgoing_.clear();
  submit_send();
  share_.loop.arm(timer_, share_.loop.now() + kGoodbyeTime, [this] {
    if (sending_) share_.loop.engine().cancel(send_op_);
  });
}

}  // namespace forebay::nvme::target

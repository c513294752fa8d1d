#include "nvme/tls/session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "nvme/tls/callbacks.h"
#include "nvme/tls/failure.h"

namespace forebay::nvme::tls {
namespace {

// Of a record beside its plain bytes: header, content type, tag.
constexpr std::size_t kRecordOverheadMax = 64;
// Of a host until its handshake is done: hello, finished, and room to spare.
constexpr std::size_t kFirstBytesMax = 16 * 1024;
constexpr std::size_t kIdentitiesMax = 8;
constexpr std::byte kAlertRecord{0x15};

constexpr Error kNoTls{Errc::kVersion, "tls: what answers there does not speak TLS"};
constexpr Error kPlainHost{Errc::kVersion, "tls: the host does not begin with TLS"};
constexpr Error kTooLong{Errc::kInvalid, "tls: the handshake is longer than any sound one"};
constexpr Error kUnknownIdentity{Errc::kDenied, "tls: no key fits what the host offers"};

}  // namespace

std::string_view to_string(SessionState state) {
  constexpr std::array<std::string_view, 4> kNames{"handshaking", "ready", "ended", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

void Session::FreeSsl::operator()(SSL* ssl) const { SSL_free(ssl); }

Session::Session(FindPsk find)
    : server_(find != nullptr),
      find_(std::move(find)),
      input_(std::make_unique_for_overwrite<std::byte[]>(kCipherInputBytes)),
      output_(
          std::make_unique_for_overwrite<std::byte[]>(kCipherOutputBytes + kControlOutputBytes)) {}

Session::~Session() = default;

std::unique_ptr<Session> Session::connect(Psk psk) {
  std::unique_ptr<Session> session(new Session(FindPsk{}));
  session->candidates_.push_back(std::move(psk));
  session->begin();
  session->handshake();
  return session;
}

std::unique_ptr<Session> Session::accept(FindPsk find) {
  FOREBAY_CHECK(find != nullptr);
  std::unique_ptr<Session> session(new Session(std::move(find)));
  session->begin();
  return session;
}

void Session::begin() {
  ssl_.reset(SSL_new(shared_context(server_)));
  FOREBAY_CHECK(ssl_ != nullptr);
  SSL_set_app_data(ssl_.get(), this);
  BIO* bio = Callbacks::make_bio(*this);
  FOREBAY_CHECK(bio != nullptr);
  SSL_set_bio(ssl_.get(), bio, bio);
  if (server_) {
    SSL_set_psk_find_session_callback(ssl_.get(), Callbacks::find_session);
    SSL_set_accept_state(ssl_.get());
    return;
  }
  const std::string suite(cipher_suite(psk().hash));
  FOREBAY_CHECK(SSL_set_ciphersuites(ssl_.get(), suite.c_str()) == 1);
  SSL_set_psk_use_session_callback(ssl_.get(), Callbacks::use_session);
  SSL_set_connect_state(ssl_.get());
}

std::span<std::byte> Session::receive_place() {
  const bool over = state_ >= SessionState::kEnded;  // what still comes is dropped
  if (over || input_begin_ == input_end_) input_begin_ = input_end_ = 0;
  if (input_end_ == kCipherInputBytes) {
    std::memmove(input_.get(), input_.get() + input_begin_, input_end_ - input_begin_);
    input_end_ -= input_begin_;
    input_begin_ = 0;
  }
  return {input_.get() + input_end_, kCipherInputBytes - input_end_};
}

void Session::received(std::size_t size) {
  FOREBAY_CHECK(size <= kCipherInputBytes - input_end_);
  const std::span<const std::byte> bytes(input_.get() + input_end_, size);
  input_end_ += size;
  if (size == 0 || state_ != SessionState::kHandshaking) return;
  if (!std::exchange(heard_, true) && bytes[0] != kHandshakeRecord &&
      (server_ || bytes[0] != kAlertRecord)) {
    return fail_with(server_ ? kPlainHost : kNoTls);
  }
  if (server_) {
    if (first_bytes_.size() + size > kFirstBytesMax) return fail_with(kTooLong);
    first_bytes_.insert(first_bytes_.end(), bytes.begin(), bytes.end());
  }
  handshake();
}

void Session::handshake() {
  while (state_ == SessionState::kHandshaking) {
    ERR_clear_error();
    const int outcome = SSL_do_handshake(ssl_.get());
    if (outcome == 1) return on_handshake_done();
    if (SSL_get_error(ssl_.get(), outcome) == SSL_ERROR_WANT_READ) return;
    on_failure(outcome);
  }
}

void Session::on_handshake_done() {
  // Both ends hold the key, or there would be no end of the handshake: what came to another end of
  // it has no business here.
  if (SSL_session_reused(ssl_.get()) != 1) {
    return fail_with({Errc::kDenied, "tls: the peer did not use the pre-shared key"});
  }
  first_bytes_ = {};
  plain_ = std::make_unique_for_overwrite<std::byte[]>(kRecordBytesMax);
  state_ = SessionState::kReady;
}

// A host does not say by which derivation it came to its key: only its proof of it does.
bool Session::try_next_key() {
  if (anything_sent_ || candidate_ + 1 >= candidates_.size()) return false;
  ++candidate_;
  begin();
  output_begin_ = output_end_ = 0;
  input_begin_ = 0;
  input_end_ = first_bytes_.size();
  std::ranges::copy(first_bytes_, input_.get());
  return true;
}

// pre_shared_key of a ClientHello (RFC 8446, 4.2.11): a list of identities with an age each.
bool Session::take_identities(std::span<const std::byte> extension) {
  if (std::exchange(identity_known_, true)) return !candidates_.empty();
  const auto number_at = [&extension](std::size_t at) {
    return std::to_integer<std::size_t>(extension[at]) << 8 |
           std::to_integer<std::size_t>(extension[at + 1]);
  };
  if (extension.size() < 2) return false;
  const std::size_t end = std::min(extension.size(), 2 + number_at(0));
  std::size_t at = 2;
  for (std::size_t i = 0; i < kIdentitiesMax && at + 2 <= end; ++i) {
    const std::size_t size = number_at(at);
    if (size > end - at - 2) break;
    const std::string_view identity(reinterpret_cast<const char*>(extension.data()) + at + 2, size);
    if (detail_.empty()) detail_ = identity.substr(0, kIdentityBytesMax);
    for (Psk& psk : find_(identity)) {
      if (psk.identity == identity) candidates_.push_back(std::move(psk));
    }
    at += 2 + size + sizeof(std::uint32_t);
  }
  return !candidates_.empty();
}

std::size_t Session::read(std::span<const iovec> places) {
  std::size_t total = 0;
  for (const iovec& place : places) {
    const std::size_t size = read_piece(place);
    total += size;
    if (size != place.iov_len) break;
  }
  return total;
}

std::size_t Session::read_piece(const iovec& place) {
  std::size_t total = 0;
  while (state_ == SessionState::kReady && total < place.iov_len) {
    std::size_t size = 0;
    ERR_clear_error();
    const int outcome = SSL_read_ex(ssl_.get(), static_cast<std::byte*>(place.iov_base) + total,
                                    place.iov_len - total, &size);
    if (outcome != 1) {
      if (SSL_get_error(ssl_.get(), outcome) != SSL_ERROR_WANT_READ) on_failure(outcome);
      break;
    }
    total += size;
  }
  return total;
}

std::size_t Session::write(std::span<const iovec> pieces) {
  std::size_t total = 0;
  std::size_t held = 0;  // in plain_
  const auto room = [this] {
    return state_ == SessionState::kReady &&
           output_end_ + kRecordBytesMax + kRecordOverheadMax <= kCipherOutputBytes;
  };
  for (const iovec& piece : pieces) {
    std::span rest(static_cast<const std::byte*>(piece.iov_base), piece.iov_len);
    while (!rest.empty() && room()) {
      std::size_t size = std::min(rest.size(), kRecordBytesMax - held);
      if (held == 0 && size == kRecordBytesMax) {
        total += write_record(rest.first(size));
      } else {
        std::memcpy(plain_.get() + held, rest.data(), size);
        held += size;
        if (held == kRecordBytesMax) total += write_record({plain_.get(), std::exchange(held, 0)});
      }
      rest = rest.subspan(size);
    }
    if (!room()) break;
  }
  if (held != 0) total += write_record({plain_.get(), held});
  return total;
}

// There is room for it.
std::size_t Session::write_record(std::span<const std::byte> plain) {
  if (state_ != SessionState::kReady) return 0;
  renew_when_due();
  std::size_t size = 0;
  ERR_clear_error();
  const int outcome = SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &size);
  if (outcome != 1) {
    on_failure(outcome);
    return 0;
  }
  FOREBAY_CHECK(size == plain.size());
  ++records_sent_;
  return size;
}

void Session::renew_when_due() {
  if (records_sent_ >= records_per_key_) update_keys();
}

void Session::update_keys() {
  if (state_ != SessionState::kReady) return;
  records_sent_ = 0;
  ++key_updates_sent_;
  ERR_clear_error();
  if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) != 1) return;
  const int outcome = SSL_do_handshake(ssl_.get());
  if (outcome != 1) on_failure(outcome);
}

void Session::close() {
  if (state_ != SessionState::kReady && state_ != SessionState::kEnded) return;
  ERR_clear_error();
  (void)SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

void Session::sent(std::size_t size) {
  FOREBAY_CHECK(size <= output_end_ - output_begin_);
  anything_sent_ = true;
  output_begin_ += size;
  if (output_begin_ == output_end_) output_begin_ = output_end_ = 0;
}

void Session::receive_ended() {
  if (state_ == SessionState::kReady) {
    fail_with({Errc::kGone, "tls: the connection was cut: the peer did not announce its end"});
  } else if (state_ == SessionState::kHandshaking && !server_ && !heard_) {
    fail_with(
        {Errc::kGone,
         "tls: the target closed at the TLS hello: it has no such key, or expects plain NVMe/TCP"});
  } else if (state_ == SessionState::kHandshaking) {
    fail_with({Errc::kGone, "tls: the peer closed during the handshake"});
  }
}

void Session::on_failure(int outcome) {
  if (SSL_get_error(ssl_.get(), outcome) == SSL_ERROR_ZERO_RETURN) {
    state_ = SessionState::kEnded;
    error_ = {Errc::kGone, "tls: the peer closed the connection"};
    return;
  }
  const bool handshaking = state_ == SessionState::kHandshaking;
  Failure failure = take_failure(server_, handshaking);
  if (server_ && handshaking && failure.other_key && try_next_key()) return;
  if (server_ && handshaking && candidates_.empty()) {
    return fail_with(kUnknownIdentity, detail_.empty() ? failure.detail : detail_);
  }
  fail_with(failure.error, std::move(failure.detail));
}

void Session::fail_with(const Error& error, std::string detail) {
  state_ = SessionState::kFailed;
  error_ = error;
  detail_ = std::move(detail);
}

}  // namespace forebay::nvme::tls

// One end of a TLS 1.3 connection with a pre-shared key, apart from its socket: bytes in, bytes
// out.
//
//   handshaking ──▶ ready ──▶ ended (the peer said that it sends no more)
//        └────────────┴─────▶ failed (an alert that says why may still be in output())
//
// Key exchange is always fresh (psk_dhe_ke); there are no certificates, tickets, early data or
// older versions. Keys are renewed when the peer does so, and of its own accord long before
// AES-GCM's limit for one key. A connection whose end was not announced has been cut: failed.
//
// Memory is bounded by the constants below, whatever the peer sends. Ownership: output() stays
// where it is until sent(). Threads: one owner. Pure, but for random numbers.
#pragma once

#include <openssl/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "nvme/tls/psk.h"

namespace forebay::nvme::tls {

enum class SessionState : std::uint8_t { kHandshaking, kReady, kEnded, kFailed };
[[nodiscard]] std::string_view to_string(SessionState state);

inline constexpr std::size_t kRecordBytesMax = 16 * 1024;  // of plain bytes
inline constexpr std::size_t kCipherInputBytes = 64 * 1024;
inline constexpr std::size_t kCipherOutputBytes = 64 * 1024;
// Beside data: alerts, key updates, a handshake. A peer that makes more of them than it reads ends.
inline constexpr std::size_t kControlOutputBytes = 8 * 1024;
// After so many records a key is renewed; RFC 8446, 5.5 has 2^24.5 as the limit.
inline constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 23;
// The first byte of every TLS connection; no NVMe/TCP PDU that a host begins with has it.
inline constexpr std::byte kHandshakeRecord{0x16};

class Session {
 public:
  struct Callbacks;  // OpenSSL's way in
  // Keys that fit an identity, those to be tried first first; none: it is unknown.
  using FindPsk = std::function<std::vector<Psk>(std::string_view identity)>;
  // The host's end: output() begins with its hello.
  [[nodiscard]] static std::unique_ptr<Session> connect(Psk psk);
  // The controller's.
  [[nodiscard]] static std::unique_ptr<Session> accept(FindPsk find);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] SessionState state() const { return state_; }
  // Of kEnded and kFailed. kDenied: the peer has another key, or none for these names; kVersion: it
  // speaks no TLS, or not this one; kCorrupt: a record is not what its sender made; kGone.
  [[nodiscard]] const Error& error() const { return error_; }
  // For logs: what OpenSSL has to say, or the identity that is not known; may be empty.
  [[nodiscard]] const std::string& detail() const { return detail_; }
  // The key in use, from kReady on.
  [[nodiscard]] const Psk& psk() const { return candidates_[candidate_]; }

  // Where bytes of the peer go: never empty when read() has taken all that it can.
  [[nodiscard]] std::span<std::byte> receive_place();
  void received(std::size_t size);
  // The connection is over.
  void receive_ended();

  // Plain bytes into `places`, as many as there are. 0: none are there (yet), or an end: state().
  [[nodiscard]] std::size_t read(std::span<const iovec> places);
  // How many plain bytes were taken: they are copied. 0: not ready, or output() must be sent first.
  [[nodiscard]] std::size_t write(std::span<const iovec> pieces);
  // Tells the peer that nothing more comes.
  void close();
  // Renews the key of what is sent from now on, and asks the peer to do the same.
  void update_keys();
  [[nodiscard]] std::uint64_t key_updates_sent() const { return key_updates_sent_; }

  // What is to be sent: of a failed one too, an alert.
  [[nodiscard]] std::span<const std::byte> output() const {
    return {output_.get() + output_begin_, output_end_ - output_begin_};
  }
  void sent(std::size_t size);

  // A key is renewed after so many records, in place of kRecordsPerKey.
  void set_records_per_key(std::uint64_t count) { records_per_key_ = count; }

 private:
  explicit Session(FindPsk find);
  friend struct Callbacks;
  struct FreeSsl {
    void operator()(SSL* ssl) const;
  };

  void begin();
  void handshake();
  void on_handshake_done();
  [[nodiscard]] bool try_next_key();
  [[nodiscard]] bool take_identities(std::span<const std::byte> extension);
  [[nodiscard]] std::size_t read_piece(const iovec& place);
  [[nodiscard]] std::size_t write_record(std::span<const std::byte> plain);
  void renew_when_due();
  void on_failure(int outcome);
  void fail_with(const Error& error, std::string detail = {});

  bool server_;
  FindPsk find_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  SessionState state_ = SessionState::kHandshaking;
  Error error_{Errc::kGone, "tls: not connected"};
  std::string detail_;
  std::vector<Psk> candidates_;
  std::size_t candidate_ = 0;
  bool identity_known_ = false;
  bool heard_ = false;
  bool anything_sent_ = false;

  std::unique_ptr<std::byte[]> input_;
  std::size_t input_begin_ = 0;
  std::size_t input_end_ = 0;
  std::vector<std::byte> first_bytes_;  // of a host, for another key: until the handshake is done
  std::unique_ptr<std::byte[]> output_;
  std::size_t output_begin_ = 0;
  std::size_t output_end_ = 0;
  std::unique_ptr<std::byte[]> plain_;  // small pieces become one record here
  std::uint64_t records_per_key_ = kRecordsPerKey;
  std::uint64_t records_sent_ = 0;  // with the present key
  std::uint64_t key_updates_sent_ = 0;
};

}  // namespace forebay::nvme::tls

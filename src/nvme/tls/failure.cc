#include "nvme/tls/failure.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>

namespace forebay::nvme::tls {
namespace {

struct Known {
  int reason;
  Error error;
};

constexpr Error kOtherKey{Errc::kDenied, "tls: the target holds another TLS key for this host"};
constexpr Error kNoKey{Errc::kDenied,
                       "tls: the target has no TLS key for this host, or not for this subsystem"};
constexpr Error kStranger{Errc::kDenied,
                          "tls: the target does not prove that it holds the TLS key"};
constexpr Error kForged{Errc::kCorrupt, "tls: a record is damaged, or not of the peer"};
constexpr Error kOldVersion{Errc::kVersion, "tls: the peer does not speak TLS 1.3"};

// Of a handshake as the host sees it.
constexpr std::array kHostKnown{
    Known{SSL_R_TLSV1_ALERT_DECRYPT_ERROR, kOtherKey},
    Known{SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER, kOtherKey},
    Known{SSL_R_SSLV3_ALERT_BAD_RECORD_MAC, kOtherKey},
    Known{SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, kNoKey},
    Known{SSL_R_TLSV1_ALERT_ACCESS_DENIED, kNoKey},
    Known{SSL_R_TLSV1_ALERT_INSUFFICIENT_SECURITY, kNoKey},
    Known{SSL_R_TLSV1_ALERT_UNKNOWN_PSK_IDENTITY, kNoKey},
    Known{SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, kOldVersion},
    Known{SSL_R_UNSUPPORTED_PROTOCOL, kOldVersion},
    Known{SSL_R_WRONG_VERSION_NUMBER, kOldVersion},
    Known{SSL_R_CERTIFICATE_VERIFY_FAILED, kStranger},
    Known{SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, kStranger},
    Known{SSL_R_DIGEST_CHECK_FAILED, kStranger},
};
constexpr std::array kControllerKnown{
    Known{SSL_R_BINDER_DOES_NOT_VERIFY,
          {Errc::kDenied, "tls: the host holds another key than this target"}},
    Known{SSL_R_BAD_EXTENSION,
          {Errc::kDenied,
           "tls: the host's proof is by another hash than its key (older tlshd has "
           "SHA-256 alone), or malformed"}},
    Known{SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, kForged},
    Known{SSL_R_UNSUPPORTED_PROTOCOL, kOldVersion},
};

constexpr Error kHandshakeError{Errc::kGone, "tls: the handshake failed"};
constexpr Error kError{Errc::kGone,
                       "tls: the peer ended the connection with an alert, or broke TLS"};

template <std::size_t kCount>
Error look_up(const std::array<Known, kCount>& known, int reason, const Error& otherwise) {
  for (const Known& one : known) {
    if (one.reason == reason) return one.error;
  }
  return otherwise;
}

}  // namespace

Failure take_failure(bool server, bool handshaking) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
  const char* words = code == 0 ? nullptr : ERR_reason_error_string(code);
  Failure failure{.error = kError, .detail = words == nullptr ? "" : words};
  failure.other_key = reason == SSL_R_BINDER_DOES_NOT_VERIFY;
  if (!handshaking) {
    if (reason == SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC) failure.error = kForged;
  } else if (server) {
    failure.error = look_up(kControllerKnown, reason, kHandshakeError);
  } else {
    failure.error = look_up(kHostKnown, reason, kHandshakeError);
  }
  return failure;
}

}  // namespace forebay::nvme::tls

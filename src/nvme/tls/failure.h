// What a failure of OpenSSL means to who connects, or is connected to.
#pragma once

#include <string>

#include "core/error.h"

namespace forebay::nvme::tls {

struct Failure {
  Error error;
  std::string detail;      // OpenSSL's own words
  bool other_key = false;  // a host's proof of its key does not fit the key tried
};

// Of the oldest error that OpenSSL holds for this thread; all are forgotten.
[[nodiscard]] Failure take_failure(bool server, bool handshaking);

}  // namespace forebay::nvme::tls

// A TLS key in a file of its own, that nobody but the file's owner may read.
//
// Blocking; for the start of a program.
#pragma once

#include <string>
#include <string_view>

#include "nvme/tls/psk.h"

namespace forebay::nvme::tls {

// As auth::read_secret_file().
[[nodiscard]] Result<TlsKey> read_tls_key_file(const std::string& path);
// What helps.
[[nodiscard]] std::string_view tls_key_hint(const Error& error);

}  // namespace forebay::nvme::tls

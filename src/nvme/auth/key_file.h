// A key's line in a file of its own, that nobody but the file's owner may read.
//
// Blocking; for the start of a program.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "nvme/auth/secret_bytes.h"

namespace forebay::nvme::auth {

// What stands in it. kNotFound; kDenied: its mode lets others read it, or this user may not;
// kInvalid: it is longer than any key.
[[nodiscard]] Result<SecretBytes> read_key_file(const std::string& path);
[[nodiscard]] std::string_view text_of(const SecretBytes& bytes);
// What helps against an error of reading it; empty: what is in it is no key of the kind wanted.
[[nodiscard]] std::string_view key_file_hint(const Error& error);

}  // namespace forebay::nvme::auth

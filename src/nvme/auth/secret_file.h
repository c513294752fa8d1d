// A secret in a file of its own, that nobody but the file's owner may read.
//
// Blocking; for the start of a program.
#pragma once

#include <string>
#include <string_view>

#include "nvme/auth/secret.h"

namespace forebay::nvme::auth {

// kNotFound; kDenied: its mode lets others read it, or this user may not; kInvalid and kCorrupt:
// what stands in it is no secret. The error's literal says so and tells nothing of the secret.
[[nodiscard]] Result<Secret> read_secret_file(const std::string& path);
// What helps.
[[nodiscard]] std::string_view secret_hint(const Error& error);

}  // namespace forebay::nvme::auth

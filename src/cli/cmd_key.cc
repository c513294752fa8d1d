// `forebay key generate` and `key check`: the secrets by which hosts and targets prove themselves.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/standard_error.h"
#include "core/printable.h"
#include "nvme/auth/secret_file.h"

namespace forebay::cli {
namespace {

using nvme::auth::HashId;
using nvme::auth::Secret;

constexpr std::size_t kPlainKeyBytes = 32;

// A file that its owner alone may read, from its first byte on; never over another.
Status write_key_file(const std::string& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return std::unexpected(error_from_errno(errno, "make the file"));
  const bool written =
      ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::fsync(file) == 0;
  const Error error = error_from_errno(written ? 0 : errno, "write");
  ::close(file);
  if (written) return {};
  ::unlink(path.c_str());
  return std::unexpected(error);
}

std::string_view transform_name(const Secret& secret) {
  return secret.transform() ? nvme::auth::to_string(*secret.transform()) : "none";
}

int run_generate(const Invocation& call) {
  const std::string name = call.text("--hash");
  const std::optional<HashId> hash = nvme::auth::parse_hash(name);
  if (!hash && name != "none") {
    constexpr std::array<std::string_view, 4> kNames{"none", "sha256", "sha384", "sha512"};
    call.mistakes().add("--hash", fmt::format("`{}` is no hash", name), suggest(name, kNames));
  }
  if (const auto refused = call.refuse()) return *refused;
  const std::size_t size = hash ? nvme::auth::hash_bytes(*hash) : kPlainKeyBytes;
  const Secret secret = Secret::make(hash, size, nvme::auth::random_bytes);
  const std::string path = call.text("--output");
  if (path == "-") {
    fmt::print("{}\n", secret.text());
    return kExitOk;
  }
  const Status written = write_key_file(path, secret.text() + "\n");
  if (!written) {
    const bool there = written.error().os == EEXIST;
    tell("{}: {}\n  hint: {}\n", path, to_string(written.error()),
         there ? "a key that is in use is not written over: take another name, or remove it"
               : "its folder must exist, and be writable for this user");
    return kExitFailed;
  }
  return kExitOk;
}

int run_check(const Invocation& call) {
  const std::string& path = call.arguments()[0];
  const auto secret = nvme::auth::read_secret_file(path);
  if (!secret) {
    tell("{}: {}\n  hint: {}\n", path, to_string(secret.error()),
         nvme::auth::secret_hint(secret.error()));
    return kExitFailed;
  }
  if (call.json()) {
    const nlohmann::ordered_json facts{
        {"file", path}, {"key_bytes", secret->size()}, {"hash", transform_name(*secret)}};
    fmt::print("{}\n", json_text(facts));
  } else if (secret->transform()) {
    fmt::print("{}: a key of {} bytes, bound to its party's name by {}\n", printable(path),
               secret->size(), transform_name(*secret));
  } else {
    fmt::print("{}: a key of {} bytes, used as it is\n", printable(path), secret->size());
  }
  return kExitOk;
}

constexpr std::array<Flag, 2> kGenerateFlags{{
    {"--hash", "HASH", "none",
     "by which the key is bound to its party's name: none, sha256, sha384, sha512"},
    {"--output", "FILE", "-", "new file for its owner alone; - is standard output"},
}};

}  // namespace

const Command kKeyGenerateCommand{
    .name = "key generate",
    .arguments = "",
    .summary = "make a key by which a host or a target proves itself",
    .details =
        "A line DHHC-1:hh:BASE64: of random bytes, as `nvme gen-dhchap-key` makes it: 32 bytes, or "
        "as many as the hash has. Host and target hold the same line: dhchap_key_file of a "
        "[[host]] "
        "section and of an nvme+tcp:// URL, --dhchap-secret of `nvme connect`. "
        "docs/guides/nvme-tcp.md shows how.",
    .flags = kGenerateFlags,
    .arguments_min = 0,
    .arguments_max = 0,
    .run = run_generate};

const Command kKeyCheckCommand{
    .name = "key check",
    .arguments = "FILE",
    .summary = "say whether a key file is one, and of what kind",
    .details =
        "Whether its owner alone may read it, its form and its checksum. Shows nothing of "
        "the key.",
    .flags = {},
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_check};

}  // namespace forebay::cli

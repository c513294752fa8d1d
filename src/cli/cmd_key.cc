// `forebay key generate` and `key check`: the secrets by which hosts and targets prove themselves.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/standard_error.h"
#include "core/printable.h"
#include "nvme/auth/key_file.h"
#include "nvme/auth/secret_file.h"
#include "nvme/tls/psk_file.h"

namespace forebay::cli {
namespace {

using nvme::auth::HashId;
using nvme::auth::Secret;
using nvme::tls::PskHash;
using nvme::tls::TlsKey;

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

// None where `name` is no hash for this kind of key, which is noted.
std::optional<HashId> hash_asked(const Invocation& call, bool tls) {
  const std::string name = call.text("--hash");
  const auto hash = nvme::auth::parse_hash(name);
  constexpr std::array<std::string_view, 4> kNames{"none", "sha256", "sha384", "sha512"};
  const std::span names = std::span(kNames).first(tls ? 3 : 4);
  if (std::ranges::find(names, name) == names.end()) {
    call.mistakes().add("--hash", fmt::format("`{}` is no hash{}", name, tls ? " of TLS keys" : ""),
                        suggest(name, names));
  }
  return hash;
}

std::string new_secret(std::optional<HashId> hash) {
  const std::size_t size = hash ? nvme::auth::hash_bytes(*hash) : kPlainKeyBytes;
  return Secret::make(hash, size, nvme::auth::random_bytes).text();
}

std::string new_tls_key(const Invocation& call, std::optional<HashId> hash) {
  const bool bound = hash.has_value() || !call.has("--hash");
  const auto kind = hash == HashId::kSha384 ? PskHash::kSha384 : PskHash::kSha256;
  return TlsKey::make(kind, bound, nvme::auth::random_bytes).text();
}

int run_generate(const Invocation& call) {
  const bool tls = call.has("--tls");
  const std::optional<HashId> hash = hash_asked(call, tls);
  if (const auto refused = call.refuse()) return *refused;
  const std::string line = tls ? new_tls_key(call, hash) : new_secret(hash);
  const std::string path = call.text("--output");
  if (path == "-") {
    fmt::print("{}\n", line);
    return kExitOk;
  }
  const Status written = write_key_file(path, line + "\n");
  if (!written) {
    const bool there = written.error().os == EEXIST;
    tell("{}: {}\n  hint: {}\n", path, to_string(written.error()),
         there ? "a key that is in use is not written over: take another name, or remove it"
               : "its folder must exist, and be writable for this user");
    return kExitFailed;
  }
  return kExitOk;
}

struct KeyFacts {
  std::string_view kind;  // "authentication", "tls"
  std::size_t bytes = 0;
  std::string_view hash = "none";
};

Result<KeyFacts> facts_of(std::string_view text) {
  if (text.starts_with("NVMeTLSkey-")) {
    FOREBAY_TRY(key, TlsKey::parse(text));
    return KeyFacts{"tls", nvme::tls::key_bytes(key.hash()),
                    key.bound() ? nvme::tls::to_string(key.hash()) : "none"};
  }
  if (!text.starts_with("DHHC-")) {
    return fail(Errc::kInvalid, "it begins neither with DHHC-1: nor with NVMeTLSkey-1:");
  }
  FOREBAY_TRY(secret, Secret::parse(text));
  return KeyFacts{"authentication", secret.size(),
                  secret.transform() ? nvme::auth::to_string(*secret.transform()) : "none"};
}

std::string_view check_hint(const Error& error, std::string_view text) {
  if (text.starts_with("NVMeTLSkey-")) return nvme::tls::tls_key_hint(error);
  if (text.starts_with("DHHC-") || error.code != Errc::kInvalid) {
    return nvme::auth::secret_hint(error);
  }
  return "it holds one line DHHC-1:hh:BASE64:, or NVMeTLSkey-1:hh:BASE64: for TLS, as `forebay key "
         "generate` writes it";
}

int run_check(const Invocation& call) {
  const std::string& path = call.arguments()[0];
  const auto text = nvme::auth::read_key_file(path);
  const auto facts = text ? facts_of(nvme::auth::text_of(*text)) : std::unexpected(text.error());
  if (!facts) {
    const auto line = text ? nvme::auth::text_of(*text) : std::string_view{};
    tell("{}: {}\n  hint: {}\n", path, to_string(facts.error()), check_hint(facts.error(), line));
    return kExitFailed;
  }
  const bool tls = facts->kind == "tls";
  if (call.json()) {
    const nlohmann::ordered_json json{
        {"file", path}, {"kind", facts->kind}, {"key_bytes", facts->bytes}, {"hash", facts->hash}};
    fmt::print("{}\n", json_text(json));
  } else if (facts->hash != "none") {
    fmt::print("{}: a {}key of {} bytes, bound to its {}'s name by {}\n", printable(path),
               tls ? "TLS " : "", facts->bytes, tls ? "host" : "party", facts->hash);
  } else {
    fmt::print("{}: a {}key of {} bytes, used as it is\n", printable(path), tls ? "TLS " : "",
               facts->bytes);
  }
  return kExitOk;
}

constexpr std::array<Flag, 3> kGenerateFlags{{
    {"--tls", "", "",
     "a key for TLS, bound to its host's name by sha256 where --hash says no other"},
    {"--hash", "HASH", "none",
     "by which the key is bound to its party's name: none, sha256, sha384, sha512"},
    {"--output", "FILE", "-", "new file for its owner alone; - is standard output"},
}};

}  // namespace

const Command kKeyGenerateCommand{
    .name = "key generate",
    .arguments = "",
    .summary = "make a key by which a host or a target proves itself, or for TLS",
    .details =
        "A line DHHC-1:hh:BASE64: of random bytes, as `nvme gen-dhchap-key` makes it: 32 bytes, or "
        "as many as the hash has. Host and target hold the same line: dhchap_key_file of a "
        "[[host]] "
        "section and of an nvme+tcp:// URL, --dhchap-secret of `nvme connect`. With --tls a line "
        "NVMeTLSkey-1:hh:BASE64: as `nvme gen-tls-key` makes it: tls_psk_file. "
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

#include "nvme/initiator/fabric_url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "nvme/identity.h"

namespace forebay::nvme::initiator {
namespace {

// A number of its row's option, or what is wrong with it.
struct NumberOption {
  std::string_view name;
  std::uint32_t FabricUrl::* field;
  std::uint32_t least;
  std::uint32_t most;
  Error wrong;
};
constexpr std::array kNumbers{
    NumberOption{"nsid",
                 &FabricUrl::nsid,
                 1,
                 0xFFFFFFFE,
                 {Errc::kInvalid, "nvme+tcp: nsid= is a number from 1 on"}},
    NumberOption{"queues",
                 &FabricUrl::queues,
                 1,
                 16,
                 {Errc::kInvalid, "nvme+tcp: queues= is a number from 1 to 16"}},
    NumberOption{"depth",
                 &FabricUrl::depth,
                 1,
                 1023,
                 {Errc::kInvalid, "nvme+tcp: depth= is a number from 1 to 1023"}},
    NumberOption{"keep_alive_s",
                 &FabricUrl::keep_alive_s,
                 0,
                 3600,
                 {Errc::kInvalid, "nvme+tcp: keep_alive_s= is a number from 0 (none) to 3600"}},
    NumberOption{"timeout_s",
                 &FabricUrl::timeout_s,
                 1,
                 3600,
                 {Errc::kInvalid, "nvme+tcp: timeout_s= is a number from 1 to 3600"}},
    NumberOption{"reauth_s",
                 &FabricUrl::reauth_s,
                 0,
                 86'400,
                 {Errc::kInvalid, "nvme+tcp: reauth_s= is a number from 0 (never) to 86400"}},
    NumberOption{"tls_identity",
                 &FabricUrl::tls_identity,
                 0,
                 1,
                 {Errc::kInvalid, "nvme+tcp: tls_identity= is 0 or 1"}},
};

struct SwitchOption {
  std::string_view name;
  bool* (*field)(FabricUrl& url);
  Error wrong;
};
constexpr std::array kSwitches{
    SwitchOption{"header_digest",
                 [](FabricUrl& url) { return &url.digests.header; },
                 {Errc::kInvalid, "nvme+tcp: header_digest= is on or off"}},
    SwitchOption{"data_digest",
                 [](FabricUrl& url) { return &url.digests.data; },
                 {Errc::kInvalid, "nvme+tcp: data_digest= is on or off"}},
    SwitchOption{"takeover",
                 [](FabricUrl& url) { return &url.takeover; },
                 {Errc::kInvalid, "nvme+tcp: takeover= is on or off"}},
    SwitchOption{"tls_compat",
                 [](FabricUrl& url) { return &url.tls_compat; },
                 {Errc::kInvalid, "nvme+tcp: tls_compat= is on or off"}},
};

struct FileOption {
  std::string_view name;
  std::string FabricUrl::* field;
  Error wrong;
};
constexpr std::array kFiles{
    FileOption{"dhchap_key_file",
               &FabricUrl::key_file,
               {Errc::kInvalid, "nvme+tcp: dhchap_key_file= names no file"}},
    FileOption{"dhchap_ctrl_key_file",
               &FabricUrl::controller_key_file,
               {Errc::kInvalid, "nvme+tcp: dhchap_ctrl_key_file= names no file"}},
    FileOption{"tls_psk_file",
               &FabricUrl::tls_key_file,
               {Errc::kInvalid, "nvme+tcp: tls_psk_file= names no file"}},
};

std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t least,
                                          std::uint32_t most) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || value < least || value > most) return std::nullopt;
  return value;
}

bool is_printed_nqn(std::string_view text) {
  return is_nqn(text) &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

bool is_host(std::string_view text, bool bracketed) {
  return !text.empty() && std::ranges::all_of(text, [bracketed](char c) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    return plain || (bracketed && (c == ':' || c == '%'));
  });
}

Status parse_authority(std::string_view text, FabricUrl& url) {
  std::string_view rest;
  const bool bracketed = text.starts_with('[');
  if (bracketed) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return fail(Errc::kInvalid, "nvme+tcp: the `[` of the host is not closed");
    }
    url.host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
  } else {
    const std::size_t colon = text.find(':');
    url.host = text.substr(0, colon);
    if (colon != std::string_view::npos) rest = text.substr(colon);
  }
  if (!is_host(url.host, bracketed)) {
    return fail(Errc::kInvalid,
                "nvme+tcp: the host is no name or address (IPv6 in brackets: [::1])");
  }
  if (rest.empty()) return {};
  const auto port = parse_number(rest.substr(1), 1, 65535);
  if (!rest.starts_with(':') || !port) {
    return fail(Errc::kInvalid, "nvme+tcp: the port is no number from 1 to 65535");
  }
  url.port = static_cast<std::uint16_t>(*port);
  return {};
}

Status parse_option(std::string_view name, std::string_view value, FabricUrl& url) {
  for (const NumberOption& option : kNumbers) {
    if (option.name != name) continue;
    const auto number = parse_number(value, option.least, option.most);
    if (!number) return std::unexpected(option.wrong);
    url.*option.field = *number;
    return {};
  }
  for (const SwitchOption& option : kSwitches) {
    if (option.name != name) continue;
    if (value != "on" && value != "off") return std::unexpected(option.wrong);
    *option.field(url) = value == "on";
    return {};
  }
  for (const FileOption& option : kFiles) {
    if (option.name != name) continue;
    if (value.empty()) return std::unexpected(option.wrong);
    url.*option.field = value;
    return {};
  }
  if (name != "host_nqn") {
    return fail(Errc::kInvalid,
                "nvme+tcp: an option is none of nsid, queues, depth, header_digest, data_digest, "
                "keep_alive_s, timeout_s, host_nqn, takeover, dhchap_key_file, "
                "dhchap_ctrl_key_file, reauth_s, tls_psk_file, tls_identity, tls_compat");
  }
  if (!is_printed_nqn(value)) {
    return fail(Errc::kInvalid, "nvme+tcp: host_nqn= is no NVMe name: nqn.YYYY-MM.domain:name");
  }
  url.host_nqn = value;
  return {};
}

Status parse_query(std::string_view query, FabricUrl& url) {
  std::set<std::string_view> seen;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return fail(Errc::kInvalid, "nvme+tcp: an option is not written NAME=VALUE");
    }
    if (!seen.insert(part.substr(0, equals)).second) {
      return fail(Errc::kInvalid, "nvme+tcp: an option stands twice");
    }
    FOREBAY_TRY_STATUS(parse_option(part.substr(0, equals), part.substr(equals + 1), url));
  }
  return {};
}

}  // namespace

Result<FabricUrl> parse_fabric_url(std::string_view text) {
  FabricUrl url;
  if (!text.starts_with(kUrlPrefix)) return fail(Errc::kInvalid, "nvme+tcp: no such URL");
  text.remove_prefix(kUrlPrefix.size());
  const std::size_t slash = text.find('/');
  FOREBAY_TRY_STATUS(parse_authority(text.substr(0, slash), url));
  std::string_view name = slash == std::string_view::npos ? "" : text.substr(slash + 1);
  if (const std::size_t mark = name.find('?'); mark != std::string_view::npos) {
    FOREBAY_TRY_STATUS(parse_query(name.substr(mark + 1), url));
    name = name.substr(0, mark);
  }
  if (!is_printed_nqn(name)) {
    return fail(Errc::kInvalid,
                "nvme+tcp: the NQN after the host is no NVMe name: nqn.YYYY-MM.domain:name");
  }
  if (url.key_file.empty() && !url.controller_key_file.empty()) {
    return fail(Errc::kInvalid,
                "nvme+tcp: dhchap_ctrl_key_file= needs dhchap_key_file=: a target proves itself to "
                "hosts that do");
  }
  if (url.tls_key_file.empty() && (url.tls_compat || url.tls_identity != 1)) {
    return fail(Errc::kInvalid, "nvme+tcp: tls_identity= and tls_compat= need tls_psk_file=");
  }
  url.nqn = name;
  return url;
}

}  // namespace forebay::nvme::initiator

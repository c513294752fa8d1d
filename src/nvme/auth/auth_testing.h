// For tests: secrets and random bytes that repeat themselves, and an authentication from end to
// end.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "nvme/auth/controller_side.h"
#include "nvme/auth/host_side.h"

namespace forebay::nvme::auth {

inline constexpr std::string_view kHostSecret =
    "DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
inline constexpr std::string_view kControllerSecret =
    "DHHC-1:02:ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKi4yNjo+QkZKTvGwQfg==:";
inline constexpr std::string_view kRawSecret =
    "DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+"
    "P4zODhA=:";

inline const Parties kParties{.host_nqn = "nqn.2026-12.org.forebay:host",
                              .subsystem_nqn = "nqn.2026-12.org.forebay:disk"};

inline Secret secret_of(std::string_view text) {
  auto secret = Secret::parse(text);
  FOREBAY_CHECK(secret.has_value());
  return *secret;
}

// A counter, as tests/interop/nvme_auth.py has it.
inline RandomSource pattern_source(unsigned first) {
  return [next = first](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++ & 0xFF);
  };
}

inline std::shared_ptr<Credentials> credentials_of(std::string_view host,
                                                   std::string_view controller = {},
                                                   const Methods& methods = {}) {
  Credentials made{.host_key = secret_of(host), .controller_key = {}, .methods = methods};
  if (!controller.empty()) made.controller_key = secret_of(controller);
  return std::make_shared<Credentials>(std::move(made));
}

// Until neither has anything to do; what went over the wire, in order.
inline std::vector<Message> converse(HostSide& host, ControllerSide& controller) {
  std::vector<Message> wire;
  while (host.sends() || host.receives()) {
    if (host.sends()) {
      wire.push_back(host.message());
      controller.received(host.message());
      host.sent();
    } else {
      wire.emplace_back(controller.answer().begin(), controller.answer().end());
      controller.answered();
      host.received(wire.back());
    }
  }
  return wire;
}

}  // namespace forebay::nvme::auth

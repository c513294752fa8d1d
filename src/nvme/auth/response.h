// How a party proves that it has its key: the responses of DH-HMAC-CHAP (Base Specification 2.1,
// 8.3.5.5.4 and .5). Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "nvme/auth/credentials.h"

namespace forebay::nvme::auth {

// What a response answers.
struct Question {
  HashId hash = HashId::kSha256;
  std::span<const std::byte> challenge;  // as it was sent
  std::uint32_t sequence = 0;
  std::uint16_t transaction = 0;
  const SecretBytes* shared = nullptr;  // of the group; null: there is none
};

[[nodiscard]] Mac host_response(const Question& question, const Secret& host_key,
                                const Parties& parties);
[[nodiscard]] Mac controller_response(const Question& question, const Secret& controller_key,
                                      const Parties& parties);

}  // namespace forebay::nvme::auth

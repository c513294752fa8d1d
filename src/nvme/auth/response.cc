#include "nvme/auth/response.h"

#include <array>
#include <string_view>

#include "core/bytes.h"

namespace forebay::nvme::auth {
namespace {

std::span<const std::byte> text_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// With a group the challenge is bound to the secret that the exchange made.
Mac bound_challenge(const Question& question) {
  Mac challenge;
  if (question.shared != nullptr) {
    const Mac key = digest(question.hash, question.shared->bytes());
    return hmac(question.hash, key.bytes(), {question.challenge});
  }
  std::ranges::copy(question.challenge, challenge.storage.begin());
  challenge.size = question.challenge.size();
  return challenge;
}

Mac respond(const Question& question, std::span<const std::byte> key, std::string_view role,
            std::array<std::string_view, 2> names) {
  constexpr std::array<std::byte, 1> kZero{};  // no secure channel; then what ends a name
  const Mac challenge = bound_challenge(question);
  return hmac(question.hash, key,
              {challenge.bytes(), bytes_of(question.sequence), bytes_of(question.transaction),
               kZero, text_bytes(role), text_bytes(names[0]), kZero, text_bytes(names[1])});
}

}  // namespace

Mac host_response(const Question& question, const Secret& host_key, const Parties& parties) {
  const SecretBytes key = host_key.key_of(parties.host_nqn);
  return respond(question, key.bytes(), "HostHost", {parties.host_nqn, parties.subsystem_nqn});
}

Mac controller_response(const Question& question, const Secret& controller_key,
                        const Parties& parties) {
  const SecretBytes key = controller_key.key_of(parties.subsystem_nqn);
  return respond(question, key.bytes(), "Controller", {parties.subsystem_nqn, parties.host_nqn});
}

}  // namespace forebay::nvme::auth

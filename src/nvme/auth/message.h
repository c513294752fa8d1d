// The messages of DH-HMAC-CHAP (Base Specification 2.1, 8.3.5.5.3 to .9), read and written:
//
//   host ─ Negotiate ─▶ controller          Negotiate, Reply, Success2 and Failure2 go in
//   host ◀─ Challenge ─ controller          Authentication Send, the others come by
//   host ─ Reply ─▶ controller              Authentication Receive
//   host ◀─ Success1 or Failure1 ─ controller
//   host ─ Success2 or Failure2 ─▶ controller, where the controller proved itself too
//
// A reader checks every length before it uses it, and takes bytes behind a message for padding.
// What it returns points into the bytes that it was given. Little-endian; pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include "nvme/auth/method.h"

namespace forebay::nvme::auth {

// The most that either side sends or takes at once.
inline constexpr std::size_t kMessageBytesMax = 4096;

// AUTH_TYPE in the high byte and AUTH_ID in the low one.
enum class MessageKind : std::uint16_t {
  kNegotiate = 0x0000,
  kFailure2 = 0x00F0,
  kFailure1 = 0x00F1,
  kChallenge = 0x0101,
  kReply = 0x0102,
  kSuccess1 = 0x0103,
  kSuccess2 = 0x0104,
};

// Reason code explanations of a failure.
enum class Explanation : std::uint8_t {
  kFailed = 1,  // the other did not prove itself
  kNotUsable = 2,
  kConcatenation = 3,
  kHashUnusable = 4,
  kGroupUnusable = 5,
  kBadPayload = 6,
  kBadMessage = 7,
};
// "authentication failed"; of any number that a peer may send.
[[nodiscard]] std::string_view to_string(Explanation explanation);

struct MessageHead {
  MessageKind kind{};
  std::uint16_t transaction = 0;
};

struct Negotiate {
  std::uint16_t transaction = 0;
  std::vector<HashId> hashes;   // those known here, in the host's order
  std::vector<GroupId> groups;  // likewise
};

struct Challenge {
  std::uint16_t transaction = 0;
  HashId hash = HashId::kSha256;
  GroupId group = GroupId::kNull;
  std::uint32_t sequence = 0;
  std::span<const std::byte> value;         // as long as the hash
  std::span<const std::byte> public_value;  // as long as the group
};

struct Reply {
  std::uint16_t transaction = 0;
  std::uint32_t sequence = 0;
  std::span<const std::byte> response;
  std::span<const std::byte> challenge;  // empty: the controller need not prove itself
  std::span<const std::byte> public_value;
};

struct Success1 {
  std::uint16_t transaction = 0;
  HashId hash = HashId::kSha256;
  std::span<const std::byte> response;  // empty: it was not asked for
};

template <class T>
using Read = std::expected<T, Explanation>;

// kBadPayload: too short for its own head; kBadMessage: of no known kind.
[[nodiscard]] Read<MessageHead> read_head(std::span<const std::byte> bytes);
[[nodiscard]] Read<Negotiate> read_negotiate(std::span<const std::byte> bytes);
[[nodiscard]] Read<Challenge> read_challenge(std::span<const std::byte> bytes);
// Of an exchange with this hash and group.
[[nodiscard]] Read<Reply> read_reply(std::span<const std::byte> bytes, HashId hash, GroupId group);
[[nodiscard]] Read<Success1> read_success1(std::span<const std::byte> bytes, HashId hash);
// Of Failure1 and Failure2.
[[nodiscard]] Read<Explanation> read_failure(std::span<const std::byte> bytes);

using Message = std::vector<std::byte>;
[[nodiscard]] Message write(const Negotiate& negotiate);
[[nodiscard]] Message write(const Challenge& challenge);
[[nodiscard]] Message write(const Reply& reply);
[[nodiscard]] Message write(const Success1& success);
[[nodiscard]] Message write_success2(std::uint16_t transaction);
[[nodiscard]] Message write_failure(MessageKind kind, std::uint16_t transaction,
                                    Explanation explanation);

// Authentication Send and Receive (6.1, 6.2 of Fabrics), dwords 10 and 11.
struct AuthFields {
  std::uint8_t unused = 0;
  std::uint8_t specific0 = 1;  // SPSP0
  std::uint8_t specific1 = 1;
  std::uint8_t protocol = 0xE9;    // SECP
  std::uint32_t length_bytes = 0;  // TL or AL
  [[nodiscard]] bool known() const { return specific0 == 1 && specific1 == 1 && protocol == 0xE9; }
};
static_assert(sizeof(AuthFields) == 8);

}  // namespace forebay::nvme::auth

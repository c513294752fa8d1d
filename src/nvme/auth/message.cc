#include "nvme/auth/message.h"

#include <algorithm>
#include <cstring>

#include "core/bytes.h"

namespace forebay::nvme::auth {
namespace {

constexpr std::uint8_t kDhHmacChap = 1;
constexpr std::size_t kListMax = 30;

struct WireHead {
  std::uint8_t type = 0;
  std::uint8_t id = 0;
  std::uint16_t unused = 0;
  std::uint16_t transaction = 0;
};
static_assert(sizeof(WireHead) == 6);

struct WireNegotiate {
  WireHead head;
  std::uint8_t secure_channel = 0;  // SC_C: none
  std::uint8_t protocol_count = 0;
};
static_assert(sizeof(WireNegotiate) == 8);

struct WireProtocol {
  std::uint8_t id = kDhHmacChap;
  std::uint8_t unused = 0;
  std::uint8_t hash_count = 0;
  std::uint8_t group_count = 0;
  std::array<std::uint8_t, kListMax> hashes{};
  std::array<std::uint8_t, kListMax> groups{};
};
static_assert(sizeof(WireProtocol) == 64);

struct WireChallenge {
  WireHead head;
  std::uint8_t hash_bytes = 0;
  std::uint8_t unused = 0;
  std::uint8_t hash = 0;
  std::uint8_t group = 0;
  std::uint16_t public_bytes = 0;
  std::uint32_t sequence = 0;
};
static_assert(sizeof(WireChallenge) == 16);

struct WireReply {
  WireHead head;
  std::uint8_t hash_bytes = 0;
  std::uint8_t unused = 0;
  std::uint8_t challenge_valid = 0;
  std::uint8_t unused2 = 0;
  std::uint16_t public_bytes = 0;
  std::uint32_t sequence = 0;
};
static_assert(sizeof(WireReply) == 16);

struct WireSuccess {
  WireHead head;
  std::uint8_t hash_bytes = 0;
  std::uint8_t unused = 0;
  std::uint8_t response_valid = 0;
  std::array<std::uint8_t, 7> unused2{};
};
static_assert(sizeof(WireSuccess) == 16);

struct WireFailure {
  WireHead head;
  std::uint8_t reason = 1;
  std::uint8_t explanation = 0;
};
static_assert(sizeof(WireFailure) == 8);

WireHead head_of(MessageKind kind, std::uint16_t transaction) {
  const auto number = static_cast<std::uint16_t>(kind);
  return {.type = static_cast<std::uint8_t>(number >> 8),
          .id = static_cast<std::uint8_t>(number & 0xFF),
          .transaction = transaction};
}

// Parts behind each other; sizes were checked.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : rest_(bytes) {}
  std::span<const std::byte> take(std::size_t size) {
    const auto part = rest_.first(size);
    rest_ = rest_.subspan(size);
    return part;
  }

 private:
  std::span<const std::byte> rest_;
};

template <class Head>
Message join(const Head& head, std::initializer_list<std::span<const std::byte>> parts = {}) {
  Message message(bytes_of(head).begin(), bytes_of(head).end());
  for (const auto part : parts) message.insert(message.end(), part.begin(), part.end());
  return message;
}

std::unexpected<Explanation> bad_payload() { return std::unexpected(Explanation::kBadPayload); }

// A host that knows more protocols than this one lists it among them.
const WireProtocol* find_protocol(std::span<const WireProtocol> listed) {
  const auto found = std::ranges::find(listed, kDhHmacChap, &WireProtocol::id);
  return found == listed.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(Explanation explanation) {
  switch (explanation) {
    case Explanation::kFailed:
      return "authentication failed";
    case Explanation::kNotUsable:
      return "authentication protocol not usable";
    case Explanation::kConcatenation:
      return "secure channel concatenation mismatch";
    case Explanation::kHashUnusable:
      return "no hash that both allow";
    case Explanation::kGroupUnusable:
      return "no DH group that both allow";
    case Explanation::kBadPayload:
      return "incorrect payload";
    case Explanation::kBadMessage:
      return "incorrect protocol message";
  }
  return "unknown reason";
}

Read<MessageHead> read_head(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(WireHead)) return bad_payload();
  const auto head = load_as<WireHead>(bytes);
  const auto kind = static_cast<MessageKind>((head.type << 8) | head.id);
  switch (kind) {
    case MessageKind::kNegotiate:
    case MessageKind::kFailure2:
    case MessageKind::kFailure1:
    case MessageKind::kChallenge:
    case MessageKind::kReply:
    case MessageKind::kSuccess1:
    case MessageKind::kSuccess2:
      return MessageHead{kind, head.transaction};
  }
  return std::unexpected(Explanation::kBadMessage);
}

Read<Negotiate> read_negotiate(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(WireNegotiate)) return bad_payload();
  const auto wire = load_as<WireNegotiate>(bytes);
  bytes = bytes.subspan(sizeof wire);
  if (bytes.size() / sizeof(WireProtocol) < wire.protocol_count) return bad_payload();
  std::vector<WireProtocol> listed(wire.protocol_count);
  if (!listed.empty()) {
    std::memcpy(listed.data(), bytes.data(), listed.size() * sizeof(WireProtocol));
  }
  const WireProtocol* found = find_protocol(listed);
  if (found == nullptr) return std::unexpected(Explanation::kNotUsable);
  if (found->hash_count > kListMax || found->group_count > kListMax) return bad_payload();
  if (wire.secure_channel != 0) return std::unexpected(Explanation::kConcatenation);
  Negotiate negotiate{.transaction = wire.head.transaction};
  for (const std::uint8_t number : std::span(found->hashes).first(found->hash_count)) {
    if (const auto hash = hash_of(number)) negotiate.hashes.push_back(*hash);
  }
  for (const std::uint8_t number : std::span(found->groups).first(found->group_count)) {
    if (const auto group = group_of(number)) negotiate.groups.push_back(*group);
  }
  return negotiate;
}

Read<Challenge> read_challenge(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(WireChallenge)) return bad_payload();
  const auto wire = load_as<WireChallenge>(bytes);
  const auto hash = hash_of(wire.hash);
  if (!hash || wire.hash_bytes != hash_bytes(*hash)) {
    return std::unexpected(Explanation::kHashUnusable);
  }
  const auto group = group_of(wire.group);
  if (!group) return std::unexpected(Explanation::kGroupUnusable);
  if (wire.public_bytes != group_bytes(*group)) return bad_payload();
  if (bytes.size() < sizeof wire + wire.hash_bytes + wire.public_bytes) return bad_payload();
  Cursor cursor(bytes.subspan(sizeof wire));
  Challenge challenge{.transaction = wire.head.transaction,
                      .hash = *hash,
                      .group = *group,
                      .sequence = wire.sequence};
  challenge.value = cursor.take(wire.hash_bytes);
  challenge.public_value = cursor.take(wire.public_bytes);
  return challenge;
}

Read<Reply> read_reply(std::span<const std::byte> bytes, HashId hash, GroupId group) {
  if (bytes.size() < sizeof(WireReply)) return bad_payload();
  const auto wire = load_as<WireReply>(bytes);
  const std::size_t size = hash_bytes(hash);
  if (wire.hash_bytes != size || wire.public_bytes != group_bytes(group)) return bad_payload();
  if (bytes.size() < sizeof wire + 2 * size + wire.public_bytes) return bad_payload();
  Cursor cursor(bytes.subspan(sizeof wire));
  Reply reply{.transaction = wire.head.transaction, .sequence = wire.sequence};
  reply.response = cursor.take(size);
  reply.challenge = cursor.take(size);
  if (wire.challenge_valid == 0) reply.challenge = {};
  reply.public_value = cursor.take(wire.public_bytes);
  return reply;
}

Read<Success1> read_success1(std::span<const std::byte> bytes, HashId hash) {
  if (bytes.size() < sizeof(WireSuccess)) return bad_payload();
  const auto wire = load_as<WireSuccess>(bytes);
  Success1 success{.transaction = wire.head.transaction, .hash = hash};
  if (wire.hash_bytes != hash_bytes(hash)) return bad_payload();
  if (wire.response_valid == 0) return success;
  if (bytes.size() < sizeof wire + wire.hash_bytes) return bad_payload();
  success.response = bytes.subspan(sizeof wire, wire.hash_bytes);
  return success;
}

Read<Explanation> read_failure(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(WireFailure)) return bad_payload();
  return static_cast<Explanation>(load_as<WireFailure>(bytes).explanation);
}

Message write(const Negotiate& negotiate) {
  WireProtocol protocol{.hash_count = static_cast<std::uint8_t>(negotiate.hashes.size()),
                        .group_count = static_cast<std::uint8_t>(negotiate.groups.size())};
  const auto number = [](auto id) { return static_cast<std::uint8_t>(id); };
  std::ranges::transform(negotiate.hashes, protocol.hashes.begin(), number);
  std::ranges::transform(negotiate.groups, protocol.groups.begin(), number);
  return join(WireNegotiate{.head = head_of(MessageKind::kNegotiate, negotiate.transaction),
                            .protocol_count = 1},
              {bytes_of(protocol)});
}

Message write(const Challenge& challenge) {
  return join(
      WireChallenge{.head = head_of(MessageKind::kChallenge, challenge.transaction),
                    .hash_bytes = static_cast<std::uint8_t>(challenge.value.size()),
                    .hash = static_cast<std::uint8_t>(challenge.hash),
                    .group = static_cast<std::uint8_t>(challenge.group),
                    .public_bytes = static_cast<std::uint16_t>(challenge.public_value.size()),
                    .sequence = challenge.sequence},
      {challenge.value, challenge.public_value});
}

// The place of the challenge is there in any case.
Message write(const Reply& reply) {
  const std::array<std::byte, kHashBytesMax> none{};
  const bool asks = !reply.challenge.empty();
  return join(
      WireReply{.head = head_of(MessageKind::kReply, reply.transaction),
                .hash_bytes = static_cast<std::uint8_t>(reply.response.size()),
                .challenge_valid = static_cast<std::uint8_t>(asks ? 1 : 0),
                .public_bytes = static_cast<std::uint16_t>(reply.public_value.size()),
                .sequence = reply.sequence},
      {reply.response,
       asks ? reply.challenge : std::span<const std::byte>(none).first(reply.response.size()),
       reply.public_value});
}

Message write(const Success1& success) {
  return join(
      WireSuccess{.head = head_of(MessageKind::kSuccess1, success.transaction),
                  .hash_bytes = static_cast<std::uint8_t>(hash_bytes(success.hash)),
                  .response_valid = static_cast<std::uint8_t>(success.response.empty() ? 0 : 1)},
      {success.response});
}

Message write_success2(std::uint16_t transaction) {
  return join(WireSuccess{.head = head_of(MessageKind::kSuccess2, transaction)});
}

Message write_failure(MessageKind kind, std::uint16_t transaction, Explanation explanation) {
  return join(WireFailure{.head = head_of(kind, transaction),
                          .explanation = static_cast<std::uint8_t>(explanation)});
}

}  // namespace forebay::nvme::auth

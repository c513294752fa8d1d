#include "nvme/auth/host_side.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes.h"

namespace forebay::nvme::auth {
namespace {

constexpr Error kStrange{Errc::kVersion, "nvme auth: the controller does not keep to the protocol"};
constexpr Error kNotAllowed{Errc::kVersion,
                            "nvme auth: the controller chose a hash or group that was not offered"};
constexpr Error kNotProven{
    Errc::kDenied, "nvme auth: the controller did not prove itself with the controller's key"};
constexpr Error kKeyRefused{Errc::kDenied,
                            "nvme auth: the controller does not take this host's key"};

Error error_of(Explanation explanation) {
  switch (explanation) {
    case Explanation::kHashUnusable:
      return {Errc::kDenied, "nvme auth: the controller allows no hash that was offered"};
    case Explanation::kGroupUnusable:
      return {Errc::kDenied, "nvme auth: the controller allows no DH group that was offered"};
    case Explanation::kConcatenation:
    case Explanation::kNotUsable:
    case Explanation::kBadPayload:
    case Explanation::kBadMessage:
      return {Errc::kVersion, "nvme auth: the controller refused a message"};
    case Explanation::kFailed:
      break;
  }
  return kKeyRefused;
}

}  // namespace

std::string_view to_string(HostState state) {
  constexpr std::array<std::string_view, 8> kNames{"negotiate",      "await challenge", "reply",
                                                   "await success1", "success2",        "failure2",
                                                   "done",           "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

HostSide::HostSide(std::shared_ptr<const Credentials> credentials, Parties parties,
                   std::uint16_t transaction, RandomSource random)
    : credentials_(std::move(credentials)),
      parties_(std::move(parties)),
      transaction_(transaction),
      random_(std::move(random)),
      message_(write(Negotiate{.transaction = transaction,
                               .hashes = credentials_->methods.hashes,
                               .groups = credentials_->methods.groups})) {}

bool HostSide::sends() const {
  return state_ == HostState::kNegotiate || state_ == HostState::kReply ||
         state_ == HostState::kSuccess2 || state_ == HostState::kFailure2;
}

bool HostSide::receives() const {
  return state_ == HostState::kAwaitChallenge || state_ == HostState::kAwaitSuccess1;
}

void HostSide::sent() {
  switch (state_) {
    case HostState::kNegotiate:
      state_ = HostState::kAwaitChallenge;
      break;
    case HostState::kReply:
      state_ = HostState::kAwaitSuccess1;
      break;
    case HostState::kSuccess2:
      state_ = HostState::kDone;
      break;
    case HostState::kFailure2:
      state_ = HostState::kFailed;
      break;
    case HostState::kAwaitChallenge:
    case HostState::kAwaitSuccess1:
    case HostState::kDone:
    case HostState::kFailed:
      break;
  }
}

void HostSide::received(std::span<const std::byte> bytes) {
  const auto head = read_head(bytes);
  if (!head) return refuse(head.error(), kStrange);
  if (head->kind == MessageKind::kFailure1) return take_failure(bytes);
  if (head->transaction != transaction_) return refuse(Explanation::kBadMessage, kStrange);
  if (state_ == HostState::kAwaitChallenge && head->kind == MessageKind::kChallenge) {
    return take_challenge(bytes);
  }
  if (state_ == HostState::kAwaitSuccess1 && head->kind == MessageKind::kSuccess1) {
    return take_success(bytes);
  }
  refuse(Explanation::kBadMessage, kStrange);
}

bool HostSide::allows(const Challenge& challenge) const {
  const Methods& methods = credentials_->methods;
  return std::ranges::find(methods.hashes, challenge.hash) != methods.hashes.end() &&
         std::ranges::find(methods.groups, challenge.group) != methods.groups.end();
}

void HostSide::take_challenge(std::span<const std::byte> bytes) {
  const auto challenge = read_challenge(bytes);
  if (!challenge) return refuse(challenge.error(), kStrange);
  if (!allows(*challenge)) return refuse(Explanation::kHashUnusable, kNotAllowed);
  hash_ = challenge->hash;
  std::optional<DhKey> key;
  std::optional<SecretBytes> shared;
  if (challenge->group != GroupId::kNull) {
    key.emplace(challenge->group, random_);
    shared = key->shared(challenge->public_value);
    if (!shared) return refuse(Explanation::kBadPayload, kStrange);
  }
  Question question{.hash = hash_,
                    .challenge = challenge->value,
                    .sequence = challenge->sequence,
                    .transaction = transaction_,
                    .shared = shared ? &*shared : nullptr};
  const Mac response = host_response(question, credentials_->host_key, parties_);
  Reply reply{.transaction = transaction_, .response = response.bytes()};
  if (key) reply.public_value = key->public_value();
  std::array<std::byte, kHashBytesMax> own{};
  if (credentials_->controller_key) {
    reply.challenge = std::span(own).first(hash_bytes(hash_));
    random_(std::span(own).first(hash_bytes(hash_)));
    random_(std::as_writable_bytes(std::span(&reply.sequence, 1)));
    reply.sequence |= 1;  // 0 says that nothing is asked
    question.challenge = reply.challenge;
    question.sequence = reply.sequence;
    expected_ = controller_response(question, *credentials_->controller_key, parties_);
  }
  message_ = write(reply);
  state_ = HostState::kReply;
}

void HostSide::take_success(std::span<const std::byte> bytes) {
  const auto success = read_success1(bytes, hash_);
  if (!success) return refuse(success.error(), kStrange);
  if (expected_.size == 0) {
    state_ = HostState::kDone;
    return;
  }
  if (!same_bytes(success->response, expected_.bytes())) {
    return refuse(Explanation::kFailed, kNotProven);
  }
  message_ = write_success2(transaction_);
  state_ = HostState::kSuccess2;
}

void HostSide::take_failure(std::span<const std::byte> bytes) {
  const auto explanation = read_failure(bytes);
  failure_ = explanation ? error_of(*explanation) : kStrange;
  state_ = HostState::kFailed;
}

void HostSide::refuse(Explanation explanation, const Error& why) {
  failure_ = why;
  message_ = write_failure(MessageKind::kFailure2, transaction_, explanation);
  state_ = HostState::kFailure2;
}

}  // namespace forebay::nvme::auth

#include "nvme/auth/controller_side.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes.h"

namespace forebay::nvme::auth {
namespace {

// The first of its own list that the other has too.
template <class Id>
std::optional<Id> choose(const std::vector<Id>& own, const std::vector<Id>& offered) {
  const auto found = std::ranges::find_if(
      own, [&offered](Id id) { return std::ranges::find(offered, id) != offered.end(); });
  return found == own.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::string_view to_string(ControllerState state) {
  constexpr std::array<std::string_view, 8> kNames{"idle",     "challenge",      "await reply",
                                                   "success1", "await success2", "done",
                                                   "failure1", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

ControllerSide::ControllerSide(std::shared_ptr<const Credentials> credentials, Parties parties,
                               RandomSource random)
    : credentials_(std::move(credentials)),
      parties_(std::move(parties)),
      random_(std::move(random)) {}

void ControllerSide::received(std::span<const std::byte> bytes) {
  if (state_ == ControllerState::kFailure1 || state_ == ControllerState::kFailed) return;
  const auto head = read_head(bytes);
  if (!head) return refuse(head.error());
  if (head->kind == MessageKind::kNegotiate) {
    transaction_ = head->transaction;
    return take_negotiate(bytes);
  }
  if (head->kind == MessageKind::kFailure2) return take_failure(bytes);
  if (head->transaction != transaction_) return refuse(Explanation::kBadMessage);
  if (state_ == ControllerState::kAwaitReply && head->kind == MessageKind::kReply) {
    return take_reply(bytes);
  }
  if (state_ == ControllerState::kAwaitSuccess2 && head->kind == MessageKind::kSuccess2) {
    return finish();
  }
  refuse(Explanation::kBadMessage);
}

void ControllerSide::answered() {
  answer_.clear();
  if (state_ == ControllerState::kChallenge) {
    state_ = ControllerState::kAwaitReply;
  } else if (state_ == ControllerState::kFailure1) {
    state_ = ControllerState::kFailed;
  } else if (state_ == ControllerState::kSuccess1 && proves_itself_) {
    state_ = ControllerState::kAwaitSuccess2;
  } else if (state_ == ControllerState::kSuccess1) {
    finish();
  }
}

void ControllerSide::finish() {
  state_ = ControllerState::kDone;
  authenticated_ = true;
  beginnings_ = 0;
}

void ControllerSide::take_negotiate(std::span<const std::byte> bytes) {
  dh_key_.reset();
  if (++beginnings_ > kBeginningsMax) {
    return refuse(Explanation::kFailed, "it began too often and did not go on");
  }
  const auto asked = read_negotiate(bytes);
  if (!asked) return refuse(asked.error());
  const auto hash = choose(credentials_->methods.hashes, asked->hashes);
  if (!hash) return refuse(Explanation::kHashUnusable);
  const auto group = choose(credentials_->methods.groups, asked->groups);
  if (!group) return refuse(Explanation::kGroupUnusable);
  hash_ = *hash;
  group_ = *group;
  const auto value = std::span(challenge_).first(hash_bytes(hash_));
  random_(value);
  random_(std::as_writable_bytes(std::span(&sequence_, 1)));
  sequence_ |= 1;  // not 0
  Challenge challenge{.transaction = transaction_,
                      .hash = hash_,
                      .group = group_,
                      .sequence = sequence_,
                      .value = value};
  if (group_ != GroupId::kNull) {
    dh_key_.emplace(group_, random_);
    challenge.public_value = dh_key_->public_value();
  }
  answer_ = write(challenge);
  state_ = ControllerState::kChallenge;
}

void ControllerSide::take_reply(std::span<const std::byte> bytes) {
  const auto reply = read_reply(bytes, hash_, group_);
  if (!reply) return refuse(reply.error());
  std::optional<SecretBytes> shared;
  if (dh_key_) {
    shared = dh_key_->shared(reply->public_value);
    dh_key_.reset();
    if (!shared) return refuse(Explanation::kBadPayload, "its DH value is none");
  }
  Question question{.hash = hash_,
                    .challenge = std::span(challenge_).first(hash_bytes(hash_)),
                    .sequence = sequence_,
                    .transaction = transaction_,
                    .shared = shared ? &*shared : nullptr};
  const Mac expected = host_response(question, credentials_->host_key, parties_);
  if (!same_bytes(reply->response, expected.bytes())) {
    return refuse(Explanation::kFailed, "its key is another");
  }
  Success1 success{.transaction = transaction_, .hash = hash_};
  Mac response;
  proves_itself_ = !reply->challenge.empty();
  if (proves_itself_ && reply->sequence == 0) return refuse(Explanation::kBadPayload);
  if (proves_itself_ && !credentials_->controller_key) {
    return refuse(Explanation::kFailed,
                  "it wants the controller to prove itself, which has no key for that");
  }
  if (proves_itself_) {
    question.challenge = reply->challenge;
    question.sequence = reply->sequence;
    response = controller_response(question, *credentials_->controller_key, parties_);
    success.response = response.bytes();
  }
  answer_ = write(success);
  state_ = ControllerState::kSuccess1;
}

void ControllerSide::take_failure(std::span<const std::byte> bytes) {
  const auto told = read_failure(bytes);
  const bool unproven = told && *told == Explanation::kFailed;
  fail(unproven ? "it does not take the controller's key" : "it gave up");
}

void ControllerSide::refuse(Explanation explanation, std::string_view why) {
  fail(why);
  answer_ = write_failure(MessageKind::kFailure1, transaction_, explanation);
  state_ = ControllerState::kFailure1;
}

void ControllerSide::fail(std::string_view why) {
  why_ = why;
  authenticated_ = false;
  dh_key_.reset();
  answer_.clear();
  state_ = ControllerState::kFailed;
}

}  // namespace forebay::nvme::auth

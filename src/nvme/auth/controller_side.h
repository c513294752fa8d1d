// The controller's side of the authentications of one queue, one after another.
//
//   idle ─Negotiate▶ challenge ─▶ await reply ─Reply▶ success1 ─▶ (await success2) ─▶ done
//                        └───────────────┴──────────────┴──▶ failure1 ─▶ failed
//
// received() takes what Authentication Send brought; answer() is for Authentication Receive, then
// answered(). Negotiate begins anew from any state but failed: a host may authenticate again at any
// time, and stays authenticated meanwhile. What fails is final: the queue's connection ends. Until
// it is authenticated a host may begin kBeginningsMax times. Pure but for its source of random
// bytes; any bytes from outside: fuzzed by nvme_auth_fuzz.cc.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "nvme/auth/message.h"
#include "nvme/auth/response.h"

namespace forebay::nvme::auth {

enum class ControllerState : std::uint8_t {
  kIdle,
  kChallenge,  // is to be fetched, as are kSuccess1 and kFailure1
  kAwaitReply,
  kSuccess1,
  kAwaitSuccess2,
  kDone,
  kFailure1,
  kFailed,
};
[[nodiscard]] std::string_view to_string(ControllerState state);

inline constexpr unsigned kBeginningsMax = 2;

class ControllerSide {
 public:
  ControllerSide(std::shared_ptr<const Credentials> credentials, Parties parties,
                 RandomSource random = random_bytes);

  [[nodiscard]] ControllerState state() const { return state_; }
  [[nodiscard]] bool authenticated() const { return authenticated_; }
  void received(std::span<const std::byte> bytes);
  // What the host may fetch now; empty: it is its turn.
  [[nodiscard]] std::span<const std::byte> answer() const { return answer_; }
  void answered();
  // From kFailure1 on: what went wrong, for people.
  [[nodiscard]] std::string_view why() const { return why_; }
  // Of the authentication that goes on, or was the last.
  [[nodiscard]] HashId hash() const { return hash_; }
  [[nodiscard]] GroupId group() const { return group_; }

 private:
  void take_negotiate(std::span<const std::byte> bytes);
  void take_reply(std::span<const std::byte> bytes);
  void take_failure(std::span<const std::byte> bytes);
  void finish();
  void refuse(Explanation explanation, std::string_view why);
  void refuse(Explanation explanation) { refuse(explanation, to_string(explanation)); }
  void fail(std::string_view why);

  std::shared_ptr<const Credentials> credentials_;
  Parties parties_;
  RandomSource random_;
  ControllerState state_ = ControllerState::kIdle;
  bool authenticated_ = false;
  unsigned beginnings_ = 0;  // since it was last authenticated
  std::uint16_t transaction_ = 0;
  HashId hash_ = HashId::kSha256;
  GroupId group_ = GroupId::kNull;
  std::array<std::byte, kHashBytesMax> challenge_{};
  std::uint32_t sequence_ = 0;
  std::optional<DhKey> dh_key_;
  bool proves_itself_ = false;
  Message answer_;
  std::string_view why_;  // a literal
};

}  // namespace forebay::nvme::auth

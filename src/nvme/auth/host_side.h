// The host's side of one authentication of one queue.
//
//   negotiate ─▶ await challenge ─▶ reply ─▶ await success1 ─▶ (success2) ─▶ done
//                      └───────────────────────────┴─▶ (failure2) ─▶ failed
//
// Sending states: message() goes out by Authentication Send, then sent(). Waiting states: what
// Authentication Receive brought goes to received(). A controller that was asked to prove itself
// and does not is a failure, as is one that chooses what was not offered. Pure but for its source
// of random bytes; any bytes from outside: fuzzed by nvme_auth_fuzz.cc.
#pragma once

#include <memory>
#include <string_view>

#include "core/error.h"
#include "nvme/auth/message.h"
#include "nvme/auth/response.h"

namespace forebay::nvme::auth {

enum class HostState : std::uint8_t {
  kNegotiate,
  kAwaitChallenge,
  kReply,
  kAwaitSuccess1,
  kSuccess2,
  kFailure2,
  kDone,
  kFailed,
};
[[nodiscard]] std::string_view to_string(HostState state);

class HostSide {
 public:
  // `transaction` tells one authentication of a queue from the next.
  HostSide(std::shared_ptr<const Credentials> credentials, Parties parties,
           std::uint16_t transaction, RandomSource random = random_bytes);

  [[nodiscard]] HostState state() const { return state_; }
  [[nodiscard]] bool sends() const;
  [[nodiscard]] bool receives() const;
  // What is to be sent, in a sending state.
  [[nodiscard]] const Message& message() const { return message_; }
  void sent();
  void received(std::span<const std::byte> bytes);
  // kFailed and kFailure2: whose fault it is. kDenied, or kVersion: the controller broke the
  // protocol, or wants what this host does not allow.
  [[nodiscard]] const Error& failure() const { return failure_; }

 private:
  void take_challenge(std::span<const std::byte> bytes);
  void take_success(std::span<const std::byte> bytes);
  void take_failure(std::span<const std::byte> bytes);
  void refuse(Explanation explanation, const Error& why);
  [[nodiscard]] bool allows(const Challenge& challenge) const;

  std::shared_ptr<const Credentials> credentials_;
  Parties parties_;
  std::uint16_t transaction_;
  RandomSource random_;
  HostState state_ = HostState::kNegotiate;
  Message message_;
  Error failure_{Errc::kDenied, "nvme auth: not begun"};
  HashId hash_ = HashId::kSha256;
  Mac expected_;  // the controller's response; empty: it was not asked for one
};

}  // namespace forebay::nvme::auth

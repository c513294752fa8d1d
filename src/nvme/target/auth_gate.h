// In front of a queue whose host must prove itself: until it has, nothing but Authentication Send
// and Receive comes through (Fabrics, 6.1 and 6.2), and nothing more once it has failed.
//
// Threads: the connection's loop.
#pragma once

#include <functional>
#include <memory>

#include "nvme/auth/controller_side.h"
#include "nvme/target/exchange.h"

namespace forebay::nvme::target {

class AuthGate final : public QueueHandler {
 public:
  // `on_moved` hears of every step, before the command that brought it is answered.
  using OnMoved = std::function<void(const auth::ControllerSide& side)>;
  AuthGate(std::unique_ptr<QueueHandler> queue, auth::ControllerSide side, OnMoved on_moved);
  [[nodiscard]] CommandStatus check(Exchange& exchange, std::uint32_t data_bytes) override;
  [[nodiscard]] Progress execute(Exchange& exchange) override;
  void drop(Exchange& exchange) override { queue_->drop(exchange); }

 private:
  [[nodiscard]] CommandStatus give_answer(Exchange& exchange);

  std::unique_ptr<QueueHandler> queue_;
  auth::ControllerSide side_;
  OnMoved on_moved_;
};

}  // namespace forebay::nvme::target

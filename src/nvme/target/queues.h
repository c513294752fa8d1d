// What the three kinds of queue do with a command: before Connect, the admin queue, an I/O queue.
//
// Threads: the connection's loop.
#pragma once

#include <functional>
#include <memory>

#include "nvme/target/connect.h"

namespace forebay::nvme::target {

// Takes Connect and nothing else; tells its owner of the queue that it made.
class UnconnectedQueue final : public QueueHandler {
 public:
  // `channel` is read when Connect comes.
  UnconnectedQueue(const Subsystems& subsystems, const Clock& clock, const Channel& channel,
                   std::function<void(ConnectedQueue)> on_connected)
      : subsystems_(subsystems),
        clock_(clock),
        channel_(channel),
        on_connected_(std::move(on_connected)) {}
  [[nodiscard]] CommandStatus check(Exchange& exchange, std::uint32_t data_bytes) override;
  [[nodiscard]] Progress execute(Exchange& exchange) override;
  void drop(Exchange&) override {}

 private:
  const Subsystems& subsystems_;
  const Clock& clock_;
  const Channel& channel_;
  std::function<void(ConnectedQueue)> on_connected_;
};

class AdminQueue final : public QueueHandler {
 public:
  explicit AdminQueue(std::shared_ptr<Controller> controller)
      : controller_(std::move(controller)) {}
  [[nodiscard]] CommandStatus check(Exchange& exchange, std::uint32_t data_bytes) override;
  [[nodiscard]] Progress execute(Exchange& exchange) override;
  void drop(Exchange& exchange) override { controller_->drop_event_request(exchange); }

 private:
  std::shared_ptr<Controller> controller_;
};

class IoQueue final : public QueueHandler {
 public:
  explicit IoQueue(std::shared_ptr<Controller> controller) : controller_(std::move(controller)) {}
  [[nodiscard]] CommandStatus check(Exchange& exchange, std::uint32_t data_bytes) override;
  [[nodiscard]] Progress execute(Exchange& exchange) override;
  void drop(Exchange&) override {}

 private:
  void count(const IoPlan& plan);
  [[nodiscard]] bool admits(const Exchange& exchange) const;
  std::shared_ptr<Controller> controller_;
};

}  // namespace forebay::nvme::target

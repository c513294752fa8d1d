// A device that keeps nothing and answers at once: what remains is the cost of everything above it.
#pragma once

#include <string>

#include "block/device.h"
#include "core/intrusive_queue.h"

namespace forebay::cli {

class NullDevice final : public block::Device {
 public:
  explicit NullDevice(io::Loop& loop) : loop_(loop) {
    geometry_ = {.size_bytes = std::uint64_t{64} << 30,
                 .align_bytes = 4096,
                 .transfer_bytes_max = 16 << 20,
                 .direct = true};
  }
  [[nodiscard]] const block::Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override { return "null"; }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void submit(block::Request& request) override {
    ended_.push_back(request);
    if (!timer_.armed()) loop_.arm(timer_, loop_.now(), [this] { end_all(); });
  }
  void cancel(block::Request&) override {}  // it ends anyway

 private:
  void end_all();

  io::Loop& loop_;
  block::Geometry geometry_;
  io::Loop::Timer timer_;
  IntrusiveQueue<block::Request, &block::Request::next> ended_;
};

}  // namespace forebay::cli

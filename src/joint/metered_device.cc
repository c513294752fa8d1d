#include "joint/metered_device.h"

#include <utility>

namespace forebay::joint {
namespace {

class MeteredDevice final : public block::Device {
 public:
  MeteredDevice(std::unique_ptr<block::Device> below, DeviceMeter* meter)
      : below_(std::move(below)), meter_(meter) {}

  [[nodiscard]] const block::Geometry& geometry() const override { return below_->geometry(); }
  [[nodiscard]] std::string describe() const override { return below_->describe(); }
  [[nodiscard]] io::Loop& loop() override { return below_->loop(); }

  void submit(block::Request& request) override {
    auto* flight = new Flight{.device = this, .outer = &request, .inner = request};
    flight->inner.context = flight;
    flight->inner.on_done = done;
    flight->inner.next = nullptr;
    flight->inner.device_word = nullptr;
    request.device_word = flight;
    below_->submit(flight->inner);
  }
  void cancel(block::Request& request) override {
    below_->cancel(static_cast<Flight*>(request.device_word)->inner);
  }

 private:
  struct Flight {
    MeteredDevice* device;
    block::Request* outer;
    block::Request inner;
  };

  static void done(block::Request& inner) {
    const std::unique_ptr<Flight> flight(static_cast<Flight*>(inner.context));
    flight->device->count(inner);
    block::Request& outer = *flight->outer;
    outer.done_bytes = inner.done_bytes;
    outer.device_word = nullptr;
    // May destroy the device: nothing of it is touched after this.
    outer.on_done(outer);
  }

  void count(const block::Request& request) {
    const Nanos now = below_->loop().now();
    if (now < meter_->origin || !request.done_bytes) return;
    const std::uint64_t bytes = *request.done_bytes;
    const bool read = request.kind == block::RequestKind::kRead;
    const bool write = request.kind == block::RequestKind::kWrite;
    if (read || write) {
      meter_->traffic.add(now - meter_->origin, read ? bytes : 0, write ? bytes : 0);
    }
  }

  std::unique_ptr<block::Device> below_;
  DeviceMeter* meter_;
};

}  // namespace

std::unique_ptr<block::Device> make_metered(std::unique_ptr<block::Device> below,
                                            DeviceMeter* meter) {
  return std::make_unique<MeteredDevice>(std::move(below), meter);
}

}  // namespace forebay::joint

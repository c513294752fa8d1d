#include "joint/metered_device.h"

#include <map>
#include <utility>
#include <vector>

namespace forebay::joint {
namespace {

class Metered final : public MeteredDevice {
 public:
  Metered(std::unique_ptr<block::Device> below, DeviceMeter* meter)
      : below_(std::move(below)), meter_(meter) {}

  [[nodiscard]] const block::Geometry& geometry() const override { return below_->geometry(); }
  [[nodiscard]] std::string describe() const override { return below_->describe(); }
  [[nodiscard]] io::Loop& loop() override { return below_->loop(); }

  void submit(block::Request& request) override {
    if (cut_) {
      request.done_bytes = fail(Errc::kCancelled, "device: cut off");
      request.on_done(request);
      return;
    }
    auto* flight =
        new Flight{.device = this, .outer = &request, .inner = request, .number = next_number_++};
    flights_.emplace(flight->number, flight);
    ++meter_->in_flight_requests;
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
  void cut() override {
    cut_ = true;
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, flight] : flights_) numbers.push_back(number);
    // One that is cancelled may end others.
    for (const std::uint64_t number : numbers) {
      const auto found = flights_.find(number);
      if (found != flights_.end()) below_->cancel(found->second->inner);
    }
  }

 private:
  struct Flight {
    Metered* device;
    block::Request* outer;
    block::Request inner;
    std::uint64_t number;
  };

  static void done(block::Request& inner) {
    const std::unique_ptr<Flight> flight(static_cast<Flight*>(inner.context));
    flight->device->count(inner);
    flight->device->flights_.erase(flight->number);
    block::Request& outer = *flight->outer;
    outer.done_bytes = inner.done_bytes;
    outer.device_word = nullptr;
    // May destroy the device: nothing of it is touched after this.
    outer.on_done(outer);
  }

  void count(const block::Request& request) {
    --meter_->in_flight_requests;
    ++meter_->ended_requests;
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
  std::map<std::uint64_t, Flight*> flights_;  // in the order they came
  std::uint64_t next_number_ = 0;
  bool cut_ = false;
};

}  // namespace

std::unique_ptr<MeteredDevice> make_metered(std::unique_ptr<block::Device> below,
                                            DeviceMeter* meter) {
  return std::make_unique<Metered>(std::move(below), meter);
}

}  // namespace forebay::joint

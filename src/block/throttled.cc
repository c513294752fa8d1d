#include "block/throttled.h"

#include <fmt/core.h>

#include <cmath>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::block {
namespace {

// The time that a rate of next to nothing asks for would not fit into a clock's.
constexpr Nanos kLengthMax = std::chrono::hours(24 * 365);
constexpr Nanos kFreeAtMax = kForever / 2;

// A rate as a pipe: each item occupies it for its length, one after another.
class Pipe {
 public:
  explicit Pipe(double per_second) : per_second_(per_second) {}
  // When an item of `amount` that comes now has passed.
  [[nodiscard]] Nanos pass(double amount, Nanos now) {
    if (per_second_ <= 0) return now;
    const double length_ns =
        std::min(amount / per_second_ * 1e9, static_cast<double>(kLengthMax.count()));
    free_at_ = std::min(std::max(free_at_, now) + Nanos(std::llround(length_ns)), kFreeAtMax);
    return free_at_;
  }

 private:
  double per_second_;
  Nanos free_at_{0};
};

class Throttled final : public Device {
 public:
  Throttled(std::unique_ptr<Device> below, const ThrottleOptions& options)
      : below_(std::move(below)),
        options_(options),
        reads_(options.read_bytes_per_second),
        writes_(options.write_bytes_per_second),
        operations_(options.operations_per_second) {}
  ~Throttled() override { FOREBAY_CHECK(in_flight_.empty()); }

  [[nodiscard]] const Geometry& geometry() const override { return below_->geometry(); }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("throttled({:.0f} MB/s read, {:.0f} MB/s write, {} us) {}",
                       options_.read_bytes_per_second / 1e6, options_.write_bytes_per_second / 1e6,
                       options_.latency.count() / 1000, below_->describe());
  }
  [[nodiscard]] io::Loop& loop() override { return below_->loop(); }

  void submit(Request& request) override {
    auto made = std::make_unique<Delayed>();
    Delayed& delayed = *made;
    delayed.device = this;
    delayed.whole = &request;
    delayed.due = due_time(request);
    delayed.request = request;
    delayed.request.next = nullptr;
    delayed.request.device_word = nullptr;
    delayed.request.context = &delayed;
    delayed.request.on_done = [](Request& done) {
      auto& entry = *static_cast<Delayed*>(done.context);
      entry.device->below_done(entry);
    };
    in_flight_.emplace(&request, std::move(made));
    below_->submit(delayed.request);
  }

  void cancel(Request& request) override {
    const auto found = in_flight_.find(&request);
    if (found == in_flight_.end()) return;
    Delayed& delayed = *found->second;
    if (delayed.timer.armed()) {
      delayed.timer.cancel();
      finish(delayed);  // the work below is done already: its true outcome
    } else {
      delayed.due = Nanos{0};  // what the device below does not cancel ends with it
      below_->cancel(delayed.request);
    }
  }

 private:
  // One request on its way: first through the device, then through what is left of its time.
  struct Delayed {
    Request request;
    Request* whole = nullptr;
    Throttled* device = nullptr;
    Nanos due{0};
    io::Loop::Timer timer;
  };

  Nanos due_time(const Request& request) {
    const Nanos now = loop().now();
    const auto bytes = static_cast<double>(request.length_bytes);
    switch (request.kind) {
      case RequestKind::kRead:
        return std::max(reads_.pass(bytes, now), operations_.pass(1, now)) + options_.latency;
      case RequestKind::kWrite:
        return std::max(writes_.pass(bytes, now), operations_.pass(1, now)) + options_.latency;
      case RequestKind::kFlush:
      case RequestKind::kDiscard:
        return now;
    }
    return now;
  }
  void below_done(Delayed& delayed) {
    if (loop().now() >= delayed.due || !delayed.request.done_bytes) {
      finish(delayed);
      return;
    }
    loop().arm(delayed.timer, delayed.due, [this, &delayed] { finish(delayed); });
  }
  void finish(Delayed& delayed) {
    Request& whole = *delayed.whole;
    whole.done_bytes = delayed.request.done_bytes;
    const auto owned = in_flight_.extract(&whole);
    whole.on_done(whole);
  }

  std::unique_ptr<Device> below_;
  ThrottleOptions options_;
  Pipe reads_;
  Pipe writes_;
  Pipe operations_;
  std::unordered_map<Request*, std::unique_ptr<Delayed>> in_flight_;
};

}  // namespace

std::unique_ptr<Device> make_throttled(std::unique_ptr<Device> below,
                                       const ThrottleOptions& options) {
  return std::make_unique<Throttled>(std::move(below), options);
}

}  // namespace forebay::block

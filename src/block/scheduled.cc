#include "block/scheduled.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/check.h"

namespace forebay::block {
namespace {

class Scheduled final : public ScheduledDevice {
 public:
  Scheduled(Device* below, qos::SchedulerOptions options)
      : below_(*below),
        loop_(below->loop()),
        geometry_(below->geometry()),
        name_(below->describe()),
        scheduler_(options) {}
  ~Scheduled() override { FOREBAY_CHECK(entries_.empty()); }

  [[nodiscard]] const Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override { return name_; }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void set_limits(std::uint32_t tenant, const qos::TenantLimits& limits) override {
    scheduler_.set_limits(tenant, limits);
  }
  [[nodiscard]] const ClassCounters& counters(OpClass op_class) const override {
    return counters_[static_cast<std::size_t>(op_class)];
  }
  [[nodiscard]] std::uint64_t in_flight_bytes_reached() const override { return reached_; }
  [[nodiscard]] std::size_t waiting() const override { return scheduler_.waiting(); }
  [[nodiscard]] std::size_t pending() const override { return entries_.size(); }
  void submit(Request& request) override;
  void cancel(Request& request) override;
  void detach() override;

 private:
  struct Entry {
    qos::Item item;  // first, so that an item is its entry
    Request request;
    Request* whole = nullptr;
    Scheduled* device = nullptr;
    io::Loop::Timer deadline;
    Nanos added{0};
    Nanos started{0};
    bool below = false;
  };

  void pump();
  void start(Entry& entry);
  void below_done(Entry& entry);
  void drop(Entry& entry, Errc code);
  ClassCounters& counters_of(const Entry& entry) {
    return counters_[static_cast<std::size_t>(entry.item.op_class)];
  }

  Device& below_;
  // The device's own, kept for when it is gone.
  io::Loop& loop_;
  Geometry geometry_;
  std::string name_;
  qos::Scheduler scheduler_;
  std::unordered_map<Request*, std::unique_ptr<Entry>> entries_;
  std::array<ClassCounters, qos::kOpClassCount> counters_;
  std::uint64_t reached_ = 0;
  io::Loop::Timer retry_;
  bool pumping_ = false;
  bool detached_ = false;
};

void Scheduled::submit(Request& request) {
  if (detached_) {
    request.done_bytes = fail(Errc::kCancelled, "device: nobody uses it any more");
    request.on_done(request);
    return;
  }
  auto made = std::make_unique<Entry>();
  Entry& entry = *made;
  entry.item = {.op_class = request.op_class,
                .tenant = request.tenant,
                .bytes = std::max<std::uint64_t>(1, request.length_bytes)};
  entry.request = request;
  entry.request.next = nullptr;
  entry.request.device_word = nullptr;
  entry.request.context = &entry;
  entry.request.on_done = [](Request& done) {
    auto& finished = *static_cast<Entry*>(done.context);
    finished.device->below_done(finished);
  };
  entry.whole = &request;
  entry.device = this;
  entry.added = loop().now();
  entries_.emplace(&request, std::move(made));
  scheduler_.add(entry.item);
  if (request.deadline < kForever) {
    loop().arm(entry.deadline, request.deadline, [this, &entry] {
      ++counters_of(entry).timed_out;
      drop(entry, Errc::kTimedOut);
    });
  }
  pump();
}

void Scheduled::pump() {
  if (detached_) return;
  if (pumping_) return;  // a completion inside submit() below: the outer loop goes on
  pumping_ = true;
  while (!detached_) {
    qos::Item* item = scheduler_.next(loop().now());
    if (item == nullptr) break;
    start(*reinterpret_cast<Entry*>(item));
  }
  pumping_ = false;
  if (detached_) return;
  const auto at = scheduler_.waiting() == 0 ? std::nullopt : scheduler_.retry_at(loop().now());
  if (at) {
    loop().arm(retry_, *at, [this] { pump(); });
  } else {
    retry_.cancel();
  }
}

void Scheduled::start(Entry& entry) {
  entry.deadline.cancel();
  entry.below = true;
  entry.started = loop().now();
  reached_ = std::max(reached_, scheduler_.in_flight_bytes());
  counters_of(entry).wait_ns.record(
      static_cast<std::uint64_t>((entry.started - entry.added).count()));
  below_.submit(entry.request);
}

void Scheduled::below_done(Entry& entry) {
  scheduler_.finished(entry.item);
  ClassCounters& counters = counters_of(entry);
  ++counters.requests;
  counters.bytes += entry.request.length_bytes;
  counters.service_ns.record(static_cast<std::uint64_t>((loop().now() - entry.started).count()));
  Request& whole = *entry.whole;
  whole.done_bytes = entry.request.done_bytes;
  {
    const auto owned = entries_.extract(&whole);
  }
  whole.on_done(whole);
  pump();
}

void Scheduled::drop(Entry& entry, Errc code) {
  FOREBAY_CHECK(scheduler_.remove(entry.item));
  Request& whole = *entry.whole;
  whole.done_bytes = std::unexpected(Error(code, "device: dropped while waiting"));
  const auto owned = entries_.extract(&whole);
  whole.on_done(whole);
}

void Scheduled::detach() {
  detached_ = true;
  retry_.cancel();
  // A completion may end other requests, never add one.
  while (scheduler_.waiting() > 0) {
    const auto waits =
        std::ranges::find_if(entries_, [](const auto& one) { return !one.second->below; });
    drop(*waits->second, Errc::kCancelled);
  }
}

void Scheduled::cancel(Request& request) {
  const auto found = entries_.find(&request);
  if (found == entries_.end()) return;
  Entry& entry = *found->second;
  if (entry.below) {
    below_.cancel(entry.request);
  } else {
    drop(entry, Errc::kCancelled);
  }
}

}  // namespace

std::unique_ptr<ScheduledDevice> ScheduledDevice::make(Device* below,
                                                       qos::SchedulerOptions options) {
  return std::make_unique<Scheduled>(below, options);
}

}  // namespace forebay::block

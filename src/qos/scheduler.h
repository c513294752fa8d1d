// Which waiting item goes to the device next: classes, tenants' shares, limits, and a bounded
// depth.
//
// Classes are served in strict order (demand, prefetch, write-back, GC, checkpoint), with two
// bounds so that nobody starves and nobody waits behind the unimportant:
//   - each lower class is owed a share of what was served while it waited; once its debt reaches a
//     quantum it goes first, once;
//   - each lower class may hold only its part of the depth while a higher one is at work, so a
//     demand item never finds the device full of GC.
// Within a class tenants share by deficit round robin over bytes, in proportion to their weight; a
// tenant over its bytes/s or operations/s is passed over until its bucket is ready.
//
// Work-conserving up to the limits. Pure: no io, no clock, no threads; time is passed in and never
// goes back. Items are the caller's, intrusive. Bounded by the caller's own count of items.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "core/intrusive_queue.h"
#include "qos/op_class.h"
#include "qos/token_bucket.h"

namespace forebay::qos {

struct Item {
  OpClass op_class = OpClass::kDemand;
  std::uint32_t tenant = 0;
  std::uint64_t bytes = 0;
  Item* next = nullptr;  // the scheduler's
};

struct TenantLimits {
  std::uint32_t weight = 1;                // share of a class under contention; at least 1
  std::uint64_t bytes_per_second_max = 0;  // 0: none
  std::uint64_t operations_per_second_max = 0;
};

struct SchedulerOptions {
  std::uint64_t in_flight_bytes_max = 32 << 20;
  // Part of the depth that a class may hold while a higher one is at work. One item always may, so
  // that no size is locked out.
  std::array<double, kOpClassCount> depth_share{1, 0.5, 0.5, 0.25, 0.25};
  // A class that had nothing to do for this long is not at work: the lower ones get the whole
  // depth.
  Nanos at_work_for{20'000'000};
  // Part of the served bytes that a waiting lower class is owed; demand is owed nothing.
  std::array<double, kOpClassCount> owed_share{0, 0.05, 0.05, 0.03, 0.02};
};

class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options);
  ~Scheduler();

  void set_limits(std::uint32_t tenant, const TenantLimits& limits);
  void add(Item& item);
  // Takes a waiting item back; false when it is not waiting.
  bool remove(Item& item);
  // The next item to start now, or null: nothing waits, the depth is used up, or limits hold.
  [[nodiscard]] Item* next(Nanos now);
  // An item that next() gave has left the device.
  void finished(const Item& item);

  // When next() may answer differently without another add() or finished(): a bucket becomes ready.
  [[nodiscard]] std::optional<Nanos> retry_at(Nanos now) const;
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] std::uint64_t in_flight_bytes() const { return in_flight_; }
  [[nodiscard]] std::uint64_t in_flight_bytes(OpClass op_class) const {
    return in_flight_by_class_[static_cast<std::size_t>(op_class)];
  }

 private:
  struct Flow;  // one tenant's queue in one class
  struct Tenant;
  struct ClassQueue {
    std::vector<Flow*> active;  // flows that have items, in round-robin order
    std::size_t turn = 0;
    std::uint64_t owed = 0;  // bytes
    std::size_t items = 0;
  };

  void note_work(Nanos now);
  [[nodiscard]] bool depth_allows(std::size_t op_class, std::uint64_t bytes, Nanos now) const;
  [[nodiscard]] Item* take_from(std::size_t op_class, Nanos now);
  void charge(Item& item, Nanos now);
  Tenant& tenant(std::uint32_t id);
  void deactivate(ClassQueue& queue, Flow& flow);

  SchedulerOptions options_;
  std::array<ClassQueue, kOpClassCount> classes_;
  std::vector<std::unique_ptr<Tenant>> tenants_;  // by id; sparse ids are the caller's to avoid
  std::array<std::uint64_t, kOpClassCount> in_flight_by_class_{};
  std::array<std::optional<Nanos>, kOpClassCount> last_work_;  // when a class was last at work
  std::uint64_t in_flight_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace forebay::qos

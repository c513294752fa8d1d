#include "qos/scheduler.h"

#include <algorithm>

#include "core/check.h"

namespace forebay::qos {
namespace {

// Bytes that a flow of weight 1 may send each round; also the debt at which a lower class goes
// first.
constexpr std::uint64_t kQuantumBytes = 256 << 10;
constexpr std::uint64_t kOwedBytesMax = 4 * kQuantumBytes;  // a long wait earns no long turn
constexpr std::uint32_t kTenantsMax = 1 << 16;

std::size_t index_of(OpClass op_class) { return static_cast<std::size_t>(op_class); }

}  // namespace

struct Scheduler::Flow {
  Tenant* tenant = nullptr;
  IntrusiveQueue<Item, &Item::next> items;
  std::uint64_t deficit = 0;  // bytes it may send in this round
};

struct Scheduler::Tenant {
  TenantLimits limits;
  TokenBucket bytes;
  TokenBucket operations;
  std::array<Flow, kOpClassCount> flows;
  [[nodiscard]] Nanos ready_at(Nanos now, std::uint64_t size) const {
    return std::max(bytes.ready_at(now, size), operations.ready_at(now, 1));
  }
};

Scheduler::Scheduler(SchedulerOptions options) : options_(options) {}
Scheduler::~Scheduler() = default;

Scheduler::Tenant& Scheduler::tenant(std::uint32_t id) {
  FOREBAY_CHECK_LT(id, kTenantsMax);
  if (id >= tenants_.size()) tenants_.resize(id + 1);
  auto& entry = tenants_[id];
  if (entry == nullptr) {
    entry = std::make_unique<Tenant>();
    for (Flow& flow : entry->flows) flow.tenant = entry.get();
  }
  return *entry;
}

void Scheduler::set_limits(std::uint32_t id, const TenantLimits& limits) {
  Tenant& changed = tenant(id);
  changed.limits = limits;
  changed.limits.weight = std::max(1U, limits.weight);
  // A burst of one second, as quotas are stated.
  changed.bytes = limits.bytes_per_second_max == 0
                      ? TokenBucket()
                      : TokenBucket(limits.bytes_per_second_max, limits.bytes_per_second_max);
  changed.operations =
      limits.operations_per_second_max == 0
          ? TokenBucket()
          : TokenBucket(limits.operations_per_second_max, limits.operations_per_second_max);
}

void Scheduler::add(Item& item) {
  ClassQueue& queue = classes_[index_of(item.op_class)];
  Flow& flow = tenant(item.tenant).flows[index_of(item.op_class)];
  if (flow.items.empty()) {
    flow.deficit = 0;
    queue.active.push_back(&flow);
  }
  flow.items.push_back(item);
  ++queue.items;
  ++waiting_;
}

void Scheduler::deactivate(ClassQueue& queue, Flow& flow) {
  const auto found = std::ranges::find(queue.active, &flow);
  const auto index = static_cast<std::size_t>(found - queue.active.begin());
  queue.active.erase(found);
  if (index < queue.turn) --queue.turn;
  if (queue.active.empty()) queue.owed = 0;
}

bool Scheduler::remove(Item& item) {
  ClassQueue& queue = classes_[index_of(item.op_class)];
  Flow& flow = tenant(item.tenant).flows[index_of(item.op_class)];
  if (!flow.items.remove(item)) return false;
  if (flow.items.empty()) deactivate(queue, flow);
  --queue.items;
  --waiting_;
  return true;
}

void Scheduler::note_work(Nanos now) {
  for (std::size_t op_class = 0; op_class < kOpClassCount; ++op_class) {
    if (classes_[op_class].items > 0 || in_flight_by_class_[op_class] > 0) {
      last_work_[op_class] = now;
    }
  }
}

bool Scheduler::depth_allows(std::size_t op_class, std::uint64_t bytes, Nanos now) const {
  if (in_flight_ == 0) return true;
  if (in_flight_ + bytes > options_.in_flight_bytes_max) return false;
  const auto at_work = [&](const std::optional<Nanos>& last) {
    return last && now - *last < options_.at_work_for;
  };
  if (std::none_of(last_work_.begin(), last_work_.begin() + static_cast<std::ptrdiff_t>(op_class),
                   at_work)) {
    return true;
  }
  const auto share = static_cast<std::uint64_t>(options_.depth_share[op_class] *
                                                static_cast<double>(options_.in_flight_bytes_max));
  return in_flight_by_class_[op_class] == 0 || in_flight_by_class_[op_class] + bytes <= share;
}

// Deficit round robin over the flows that may send now.
Item* Scheduler::take_from(std::size_t op_class, Nanos now) {
  ClassQueue& queue = classes_[op_class];
  std::size_t passed_over = 0;  // flows in a row that may not send
  while (passed_over < queue.active.size()) {
    if (queue.turn >= queue.active.size()) queue.turn = 0;
    Flow& flow = *queue.active[queue.turn];
    Item& head = *flow.items.front();
    if (flow.tenant->ready_at(now, head.bytes) > now) {
      flow.deficit = 0;
      ++queue.turn;
      ++passed_over;
      continue;
    }
    // A large item waits for its room here: were smaller ones let past, it might wait for ever.
    if (!depth_allows(op_class, head.bytes, now)) return nullptr;
    passed_over = 0;
    if (flow.deficit < head.bytes && queue.active.size() > 1) {
      // Every full round gives each flow its quantum, so the loop ends.
      flow.deficit += kQuantumBytes * flow.tenant->limits.weight;
      if (flow.deficit < head.bytes) {
        ++queue.turn;
        continue;
      }
    }
    flow.deficit -= std::min(flow.deficit, head.bytes);
    Item& item = flow.items.pop_front();
    --queue.items;
    --waiting_;
    if (flow.items.empty()) {
      deactivate(queue, flow);
    } else if (flow.deficit < flow.items.front()->bytes) {
      ++queue.turn;
    }
    return &item;
  }
  return nullptr;
}

void Scheduler::charge(Item& item, Nanos now) {
  Tenant& payer = tenant(item.tenant);
  payer.bytes.take(item.bytes, now);
  payer.operations.take(1, now);
  in_flight_ += item.bytes;
  in_flight_by_class_[index_of(item.op_class)] += item.bytes;
  for (std::size_t other = 1; other < kOpClassCount; ++other) {
    ClassQueue& queue = classes_[other];
    if (queue.items == 0) continue;
    if (other == index_of(item.op_class)) {
      queue.owed -= std::min(queue.owed, item.bytes);
    } else {
      const auto share =
          static_cast<std::uint64_t>(options_.owed_share[other] * static_cast<double>(item.bytes));
      queue.owed = std::min(queue.owed + share, kOwedBytesMax);
    }
  }
}

Item* Scheduler::next(Nanos now) {
  note_work(now);
  Item* item = nullptr;
  for (std::size_t op_class = 1; op_class < kOpClassCount && item == nullptr; ++op_class) {
    if (classes_[op_class].owed >= kQuantumBytes) item = take_from(op_class, now);
  }
  for (std::size_t op_class = 0; op_class < kOpClassCount && item == nullptr; ++op_class) {
    item = take_from(op_class, now);
  }
  if (item != nullptr) charge(*item, now);
  return item;
}

void Scheduler::finished(const Item& item) {
  FOREBAY_CHECK_LE(item.bytes, in_flight_);
  in_flight_ -= item.bytes;
  in_flight_by_class_[index_of(item.op_class)] -= item.bytes;
}

std::optional<Nanos> Scheduler::retry_at(Nanos now) const {
  std::optional<Nanos> earliest;
  for (const ClassQueue& queue : classes_) {
    for (const Flow* flow : queue.active) {
      const Nanos at = flow->tenant->ready_at(now, flow->items.front()->bytes);
      if (at > now && (!earliest || at < *earliest)) earliest = at;
    }
  }
  return earliest;
}

}  // namespace forebay::qos

#include "plan/prefix_cache.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/rng.h"
#include "plan/belady.h"

namespace forebay::plan {
namespace {

using store::policy::ChainView;
using store::policy::kNone;
using store::policy::Policy;
using store::policy::Slot;

// Residence and parent links of one run. A block's slot is its dense id.
class Residents final : public ChainView {
 public:
  explicit Residents(std::uint32_t unique_blocks)
      : resident_(unique_blocks), children_(unique_blocks), parent_(unique_blocks, kNone) {}
  [[nodiscard]] bool has_resident_child(Slot slot) const override { return children_[slot] != 0; }
  [[nodiscard]] bool is_held(Slot) const override { return false; }
  [[nodiscard]] bool has(Slot slot) const { return resident_[slot] != 0; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  void enter(Slot slot, Slot parent) {
    resident_[slot] = 1;
    parent_[slot] = parent;
    if (parent != kNone) ++children_[parent];
    ++count_;
  }
  void leave(Slot slot) {
    resident_[slot] = 0;
    if (parent_[slot] != kNone) --children_[parent_[slot]];
    --count_;
  }

 private:
  std::vector<std::uint8_t> resident_;
  std::vector<std::uint32_t> children_;
  std::vector<Slot> parent_;
  std::uint64_t count_ = 0;
};

std::uint32_t bytes_of(const BlockTrace& trace, Slot slot) {
  return trace.block_bytes.empty() ? 1 : trace.block_bytes[slot];
}

std::size_t leading_run(const Residents& residents, std::span<const std::uint32_t> chain) {
  std::size_t run = 0;
  while (run < chain.size() && residents.has(chain[run])) ++run;
  return run;
}

std::uint64_t key_of(Slot slot) { return mix64(slot) | 1; }

std::uint32_t known_run(const Residents& residents, const Policy& policy,
                        std::span<const std::uint32_t> chain) {
  std::uint32_t run = 0;
  while (run < chain.size() &&
         (residents.has(chain[run]) || policy.remembers(key_of(chain[run])))) {
    ++run;
  }
  return run;
}

void touch_chain(const BlockTrace& trace, std::span<const std::uint32_t> chain, Policy& policy,
                 Residents& residents) {
  for (std::size_t depth = chain.size(); depth-- > 0;) {
    const Slot slot = chain[depth];
    if (residents.has(slot)) {
      policy.on_hit(slot);
      continue;
    }
    residents.enter(slot, depth == 0 ? kNone : chain[depth - 1]);
    policy.on_insert({.slot = slot,
                      .key = key_of(slot),
                      .bytes = bytes_of(trace, slot),
                      .chain_depth = static_cast<std::uint32_t>(depth),
                      .recompute_ns = trace.recompute_ns.empty() ? 1 : trace.recompute_ns[slot]});
  }
}

}  // namespace

struct BlockTraceBuilder::Ids {
  std::unordered_map<std::uint64_t, std::uint32_t> dense;
};

BlockTraceBuilder::BlockTraceBuilder() : ids_(std::make_unique<Ids>()) {}
BlockTraceBuilder::~BlockTraceBuilder() = default;

void BlockTraceBuilder::add(std::span<const std::uint64_t> chain, std::uint16_t group,
                            std::uint32_t block_bytes) {
  trace_.requests.push_back({.first = static_cast<std::uint32_t>(trace_.blocks.size()),
                             .count = static_cast<std::uint32_t>(chain.size()),
                             .group = group});
  for (const std::uint64_t id : chain) {
    const auto [at, fresh] = ids_->dense.try_emplace(id, trace_.unique_blocks);
    if (fresh) {
      ++trace_.unique_blocks;
      trace_.block_bytes.push_back(block_bytes);
    }
    trace_.blocks.push_back(at->second);
  }
}

BlockTrace BlockTraceBuilder::take() { return std::move(trace_); }

double CacheOutcome::hit_ratio() const {
  return accessed_blocks == 0
             ? 0
             : static_cast<double>(hit_blocks) / static_cast<double>(accessed_blocks);
}
double CacheOutcome::byte_hit_ratio() const {
  return accessed_bytes == 0 ? 0
                             : static_cast<double>(hit_bytes) / static_cast<double>(accessed_bytes);
}

CacheOutcome simulate_with(const BlockTrace& trace, Policy& policy, std::uint64_t capacity_blocks) {
  CacheOutcome outcome;
  outcome.policy = policy.name();
  outcome.capacity_blocks = capacity_blocks;
  Residents residents(trace.unique_blocks);
  for (const BlockTrace::Access& request : trace.requests) {
    const auto chain = std::span(trace.blocks).subspan(request.first, request.count);
    const std::size_t run = leading_run(residents, chain);
    outcome.hit_blocks += run;
    outcome.accessed_blocks += chain.size();
    for (std::size_t depth = 0; depth < chain.size(); ++depth) {
      const std::uint32_t bytes = bytes_of(trace, chain[depth]);
      outcome.accessed_bytes += bytes;
      if (depth < run) outcome.hit_bytes += bytes;
    }
    policy.begin_request({.chain_blocks = request.count,
                          .known_blocks = known_run(residents, policy, chain),
                          .group = request.group});
    touch_chain(trace, chain, policy, residents);
    while (residents.count() > capacity_blocks) {
      const Slot slot = policy.victim(residents);
      residents.leave(slot);
      policy.on_remove(slot, key_of(slot));
      ++outcome.evicted_blocks;
    }
  }
  outcome.policy_bytes = policy.bytes_used();
  return outcome;
}

Result<CacheOutcome> simulate(const BlockTrace& trace, std::string_view policy,
                              std::uint64_t capacity_blocks) {
  const std::uint64_t capacity = policy == "infinite" ? trace.unique_blocks : capacity_blocks;
  if (policy == "belady" || policy == "infinite") {
    Belady optimum(trace);
    CacheOutcome outcome = simulate_with(trace, optimum, capacity);
    outcome.policy = policy;
    return outcome;
  }
  const auto made = store::policy::make_policy(policy, {.capacity_blocks = capacity});
  if (made == nullptr) return fail(Errc::kInvalid, "no such policy");
  return simulate_with(trace, *made, capacity);
}

}  // namespace forebay::plan

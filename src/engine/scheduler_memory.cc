// The scheduler's dealings with HBM and with loads: what can be reused, what must be reserved.
#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"
#include "engine/scheduler.h"

namespace forebay::engine {

// Never the whole prompt: at least its last token is computed, since its output is the first token,
// and reuse is by whole blocks.
std::size_t Scheduler::reusable_blocks_max(const Sequence& sequence) const {
  return std::min<std::size_t>(sequence.blocks.names.size(),
                               (sequence.target_tokens - 1) / context_->options.block_tokens);
}

HbmPool::Match Scheduler::match_hbm(const Sequence& sequence) const {
  return context_->pool->match(
      std::span(sequence.blocks.names).first(reusable_blocks_max(sequence)));
}

// How many blocks after the first `from` the backend has and recommends to load.
std::size_t Scheduler::worth_loading(Sequence& sequence, std::size_t from) {
  const std::size_t end = reusable_blocks_max(sequence);
  if (sequence.load_refused || from >= end) return 0;
  if (sequence.looked_up_at == context_->version && sequence.looked_up_from == from) {
    return sequence.worth_blocks;
  }
  sequence.phase.enter(Phase::kLookup, context_->loop->now());
  const KvLookup found =
      context_->backend->lookup(std::span(sequence.blocks.ids).subspan(from, end - from));
  sequence.phase.enter(Phase::kQueue, context_->loop->now());
  sequence.looked_up_at = context_->version;
  sequence.looked_up_from = from;
  sequence.worth_blocks = std::min({found.worth_blocks, found.present_blocks, end - from});
  return sequence.worth_blocks;
}

bool Scheduler::fits(const Sequence& sequence, const HbmPool::Match& hbm) const {
  const std::size_t needed = divide_up(sequence.target_tokens, context_->options.block_tokens);
  return needed - hbm.blocks + hbm.cached <= context_->pool->available_count();
}

// Takes HBM for the whole prompt, what is there of it included. False leaves all as it was.
bool Scheduler::reserve(Sequence& sequence, const HbmPool::Match& hbm) {
  FOREBAY_CHECK(sequence.slots.empty());
  const std::size_t needed = divide_up(sequence.target_tokens, context_->options.block_tokens);
  HbmPool& pool = *context_->pool;
  sequence.slots.reserve(needed);
  for (std::size_t i = 0; i < hbm.blocks; ++i) {
    sequence.slots.push_back(pool.find_and_hold(sequence.blocks.names[i]));
  }
  sequence.published = hbm.blocks;
  while (sequence.slots.size() < needed) {
    const Slot slot = pool.allocate();
    if (slot == kNoSlot) {
      release_slots(sequence);
      return false;
    }
    sequence.slots.push_back(slot);
  }
  ++context_->version;
  sequence.own_from = hbm.blocks;
  sequence.computed_tokens =
      static_cast<std::uint32_t>(hbm.blocks) * context_->options.block_tokens;
  if (hbm.blocks > 0) context_->backend->touch(std::span(sequence.blocks.ids).first(hbm.blocks));
  if (sequence.generated_tokens == 0) {
    sequence.record.hbm_blocks = static_cast<std::uint32_t>(hbm.blocks);
  }
  return true;
}

void Scheduler::release_slots(Sequence& sequence) {
  for (auto slot = sequence.slots.rbegin(); slot != sequence.slots.rend(); ++slot) {
    context_->pool->release(*slot);
  }
  sequence.slots.clear();
  sequence.published = 0;
  sequence.computed_tokens = 0;
}

void Scheduler::wait_for_load(Sequence& sequence) {
  sequence.state = SequenceState::kLoadWaiting;
  sequence.load_wait_until = context_->loop->now() + context_->options.load_deadline;
  load_waiting_.emplace(sequence.order, &sequence);
  if (!load_wait_timer_.armed()) arm_load_wait_timer();
  pump_loads();
  if (sequence.state != SequenceState::kLoadWaiting) return;
  context_->backend->prefetch(
      std::span(sequence.blocks.ids).subspan(sequence.looked_up_from, sequence.worth_blocks),
      sequence.request->index + 1);
}

// Starts loads, oldest first, until the budget or HBM is used up.
void Scheduler::pump_loads() {
  while (!load_waiting_.empty()) {
    if (!start_load(*load_waiting_.begin()->second)) return;
  }
}

// True when the sequence left load_waiting_: to load, or because there is nothing to load any more.
bool Scheduler::start_load(Sequence& sequence) {
  if (!loads_.has_room(sequence.worth_blocks * context_->block_bytes)) return false;
  const HbmPool::Match hbm = match_hbm(sequence);
  if (!fits(sequence, hbm)) return false;
  const std::size_t load_blocks = worth_loading(sequence, hbm.blocks);
  if (load_blocks > 0) {
    if (!loads_.has_room(load_blocks * context_->block_bytes)) return false;
    if (!reserve(sequence, hbm)) return false;
  }
  load_waiting_.erase(sequence.order);
  if (load_blocks == 0) {
    enqueue(sequence);
    on_work_();
    return true;
  }
  const Nanos now = context_->loop->now();
  if (!std::exchange(sequence.admitted, true)) {
    sequence.record.admitted_ns = context_->since_origin(now);
  }
  sequence.state = SequenceState::kLoading;
  sequence.phase.enter(Phase::kRead, now);
  loads_.start(sequence, hbm.blocks, load_blocks);
  return true;
}

void Scheduler::load_settled(Sequence& sequence, const LoadOutcome& outcome) {
  const Nanos now = context_->loop->now();
  for (std::size_t tier = 0; tier < store::kTierCount; ++tier) {
    sequence.record.tier_blocks[tier] +=
        static_cast<std::uint32_t>(outcome.report.blocks_by_tier[tier]);
    sequence.record.tier_bytes[tier] += outcome.report.bytes_by_tier[tier];
  }
  sequence.record.wrong_blocks += static_cast<std::uint32_t>(outcome.wrong_blocks);
  context_->result.wrong_blocks += outcome.wrong_blocks;
  if (sequence.generated_tokens == 0) sequence.record.load_done_ns = context_->since_origin(now);
  ++context_->version;
  sequence.load_refused = outcome.timed_out || outcome.good_blocks == 0;
  if (!outcome.timed_out && keep_loaded(sequence, outcome.good_blocks)) {
    sequence.state = SequenceState::kReady;
    sequence.phase.enter(Phase::kQueue, now);
    ready_.emplace(sequence.order, &sequence);
  } else {
    loads_.release_budget(sequence);
    release_slots(sequence);
    enqueue(sequence);
  }
  pump_loads();
  on_work_();
}

// Gives what was loaded its names, and replaces slots that a device may still write into.
bool Scheduler::keep_loaded(Sequence& sequence, std::size_t good_blocks) {
  HbmPool& pool = *context_->pool;
  for (std::size_t n = 0; n < good_blocks; ++n) {
    const std::size_t i = sequence.published++;
    const Slot parent = i == 0 ? kNoSlot : sequence.slots[i - 1];
    sequence.slots[i] = pool.publish(sequence.slots[i], sequence.blocks.names[i], parent);
  }
  sequence.own_from = sequence.published;
  sequence.computed_tokens =
      static_cast<std::uint32_t>(sequence.published) * context_->options.block_tokens;
  for (std::size_t i = sequence.published; i < sequence.slots.size(); ++i) {
    if (pool.holders(sequence.slots[i]) == 1) continue;
    const Slot fresh = pool.allocate();
    if (fresh == kNoSlot) return false;
    pool.release(std::exchange(sequence.slots[i], fresh));
  }
  return true;
}

// A turn that does not come in time (a dead backend holds the budget) is worth no more waiting.
void Scheduler::expire_load_waits() {
  const Nanos now = context_->loop->now();
  for (auto at = load_waiting_.begin(); at != load_waiting_.end();) {
    Sequence& sequence = *at->second;
    if (sequence.load_wait_until > now) {
      ++at;
      continue;
    }
    at = load_waiting_.erase(at);
    sequence.load_refused = true;
    enqueue(sequence);
  }
  arm_load_wait_timer();
  on_work_();
}

void Scheduler::arm_load_wait_timer() {
  Nanos first = kForever;
  for (const auto& [order, sequence] : load_waiting_) {
    first = std::min(first, sequence->load_wait_until);
  }
  if (first == kForever) return;
  context_->loop->arm(load_wait_timer_, first, [this] { expire_load_waits(); });
}

}  // namespace forebay::engine

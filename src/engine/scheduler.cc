#include "engine/scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::engine {

Scheduler::Scheduler(std::shared_ptr<EngineContext> context, std::function<void()> on_work)
    : context_(std::move(context)),
      on_work_(std::move(on_work)),
      loads_(
          context_,
          [this](Sequence& sequence, const LoadOutcome& outcome) {
            load_settled(sequence, outcome);
          },
          on_work_) {}

void Scheduler::arrive(Sequence& sequence) {
  if (worth_loading(sequence, match_hbm(sequence).blocks) > 0) {
    wait_for_load(sequence);
  } else {
    enqueue(sequence);
  }
  on_work_();
}

void Scheduler::enqueue(Sequence& sequence) {
  sequence.state = SequenceState::kQueued;
  sequence.phase.enter(Phase::kQueue, context_->loop->now());
  queued_.emplace(sequence.order, &sequence);
}

void Scheduler::compose(Step& step) {
  step.prefill.clear();
  step.decode.clear();
  pump_loads();
  std::uint64_t budget = context_->options.step_token_budget;
  take_decoding(step, budget);
  take_prefilling(step, budget);
  take_waiting(step, budget);
  time(step);
}

void Scheduler::take_decoding(Step& step, std::uint64_t& budget) {
  for (auto at = running_.begin(); at != running_.end() && budget > 0;) {
    Sequence& sequence = *at->second;
    if (sequence.prefilling()) {
      ++at;
      continue;
    }
    const std::uint64_t order = sequence.order;
    if (grow(sequence)) {
      step.decode.push_back(&sequence);
      --budget;
      ++at;
    } else {
      at = running_.upper_bound(order);  // it may have given way itself
    }
  }
}

void Scheduler::take_prefilling(Step& step, std::uint64_t& budget) {
  for (const auto& [order, sequence] : running_) {
    if (budget == 0) return;
    if (sequence->prefilling()) add_chunk(step, *sequence, budget);
  }
}

void Scheduler::take_waiting(Step& step, std::uint64_t& budget) {
  bool queue_open = true;
  while (budget > 0 && running_.size() < context_->options.sequences_max) {
    Sequence* ready = ready_.empty() ? nullptr : ready_.begin()->second;
    Sequence* queued = queued_.empty() || !queue_open ? nullptr : queued_.begin()->second;
    if (ready == nullptr && queued == nullptr) return;
    if (queued == nullptr || (ready != nullptr && ready->order < queued->order)) {
      ready_.erase(ready->order);
      join(*ready);
      add_chunk(step, *ready, budget);
      continue;
    }
    const Opened opened = open_queued(*queued);
    if (opened == Opened::kBlocked) queue_open = false;
    if (opened == Opened::kJoined) add_chunk(step, *queued, budget);
  }
}

// The next in line for the batch; by now there may be something to load that was not at arrival.
Scheduler::Opened Scheduler::open_queued(Sequence& sequence) {
  const HbmPool::Match hbm = match_hbm(sequence);
  if (!fits(sequence, hbm)) return Opened::kBlocked;
  if (worth_loading(sequence, hbm.blocks) > 0) {
    queued_.erase(sequence.order);
    wait_for_load(sequence);
    return Opened::kLoads;
  }
  if (!reserve(sequence, hbm)) return Opened::kBlocked;
  queued_.erase(sequence.order);
  join(sequence);
  return Opened::kJoined;
}

void Scheduler::join(Sequence& sequence) {
  const Nanos now = context_->loop->now();
  loads_.release_budget(sequence);
  if (!std::exchange(sequence.admitted, true)) {
    sequence.record.admitted_ns = context_->since_origin(now);
    sequence.record.load_done_ns = sequence.record.admitted_ns;
  }
  sequence.state = SequenceState::kRunning;
  sequence.phase.enter(Phase::kRecompute, now);
  running_.emplace(sequence.order, &sequence);
}

void Scheduler::add_chunk(Step& step, Sequence& sequence, std::uint64_t& budget) {
  const auto tokens = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(budget, sequence.target_tokens - sequence.computed_tokens));
  step.prefill.push_back({&sequence, tokens});
  budget -= tokens;
}

// A slot for the KV that the next decode step of this sequence writes.
bool Scheduler::grow(Sequence& sequence) {
  const std::uint64_t needed =
      divide_up(sequence.computed_tokens + std::uint64_t{1}, context_->options.block_tokens);
  while (sequence.slots.size() < needed) {
    const Slot slot = context_->pool->allocate();
    if (slot != kNoSlot) {
      sequence.slots.push_back(slot);
      ++context_->version;
      continue;
    }
    Sequence* victim = youngest_after(sequence.order);
    if (victim == nullptr) {
      if (!is_oldest(sequence)) preempt(sequence);
      return false;
    }
    preempt(*victim);
  }
  return true;
}

Sequence* Scheduler::youngest_after(std::uint64_t order) const {
  Sequence* youngest = nullptr;
  for (const ByOrder* group : {&running_, &ready_}) {
    if (group->empty()) continue;
    Sequence* last = group->rbegin()->second;
    if (last->order > order && (youngest == nullptr || last->order > youngest->order)) {
      youngest = last;
    }
  }
  return youngest;
}

bool Scheduler::is_oldest(const Sequence& sequence) const {
  for (const ByOrder* group : {&running_, &ready_}) {
    if (!group->empty() && group->begin()->first < sequence.order) return false;
  }
  return true;
}

void Scheduler::preempt(Sequence& sequence) {
  running_.erase(sequence.order);
  ready_.erase(sequence.order);
  loads_.release_budget(sequence);
  release_slots(sequence);
  ++sequence.record.preemptions;
  ++context_->result.preemptions;
  sequence.target_tokens = sequence.input_tokens + sequence.generated_tokens;
  enqueue(sequence);
}

void Scheduler::end(Sequence& sequence) {
  for (ByOrder* group : {&running_, &ready_, &queued_, &load_waiting_}) {
    group->erase(sequence.order);
  }
  loads_.release_budget(sequence);
  release_slots(sequence);
  sequence.state = SequenceState::kEnded;
}

Sequence* Scheduler::oldest() const {
  Sequence* oldest = nullptr;
  for (const ByOrder* group : {&running_, &ready_, &queued_, &load_waiting_}) {
    if (group->empty()) continue;
    Sequence* first = group->begin()->second;
    if (oldest == nullptr || first->order < oldest->order) oldest = first;
  }
  return oldest;
}

void Scheduler::time(Step& step) const {
  const EngineOptions& options = context_->options;
  step.prefill_tokens = 0;
  double pairs = 0;  // of tokens and the tokens before them: what attention costs
  for (const Chunk& chunk : step.prefill) {
    const double tokens = chunk.tokens;
    pairs += tokens * (chunk.sequence->computed_tokens + tokens / 2);
    step.prefill_tokens += chunk.tokens;
  }
  const double prefill_seconds =
      static_cast<double>(step.prefill_tokens) / options.prefill_tokens_per_second +
      pairs * options.prefill_seconds_per_token_pair;
  const double decode_seconds =
      step.decode.empty()
          ? 0
          : options.decode_seconds_per_step +
                options.decode_seconds_per_sequence * static_cast<double>(step.decode.size());
  step.prefill_time = Nanos(std::llround(prefill_seconds * 1e9));
  step.decode_time = Nanos(std::llround(decode_seconds * 1e9));
}

}  // namespace forebay::engine

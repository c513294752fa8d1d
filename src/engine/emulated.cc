#include "engine/emulated.h"

#include <algorithm>
#include <coroutine>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/bytes.h"
#include "engine/arrivals.h"
#include "engine/save_queue.h"
#include "engine/scheduler.h"

namespace forebay::engine {
namespace {

// A step that ended late by no more than this is caught up by the next one, so that the loop's own
// overhead does not add up; above it the plan moves, and the lag stands in the histogram.
constexpr Nanos kCatchUpMax = std::chrono::milliseconds(1);
// How long a cancelled run waits for calls that were told to end.
constexpr Nanos kInterruptGrace = std::chrono::seconds(2);

class Emulator {
 public:
  Emulator(std::shared_ptr<EngineContext> context, std::span<const workload::Request> requests,
           CancelSource* cancel, std::function<void(std::size_t)> on_progress);
  Task<void> run();
  [[nodiscard]] EngineResult take_result();

 private:
  void on_due(std::size_t position, Nanos intended);
  [[nodiscard]] bool can_ever_fit(const Sequence& sequence) const;
  Task<void> wait_for_work();
  Task<void> execute(Step* step);
  [[nodiscard]] bool fill_slice(const Step& step);
  void finish(const Step& step);
  void publish_computed(Sequence& sequence);
  void next_token(Sequence& sequence);
  void first_token(Sequence& sequence);
  void offer_computed(Sequence& sequence);
  void end(Sequence& sequence, RequestState state);
  Task<void> wind_down();
  void cancel_now();

  // Waits for the end of a step, cut short by a cancel.
  struct StepEnd {
    Emulator& emulator;
    Nanos at;
    [[nodiscard]] bool await_ready() const { return emulator.cancelled_; }
    void await_suspend(std::coroutine_handle<> self) {
      emulator.step_waiter_ = self;
      emulator.context_->loop->arm(emulator.step_timer_, at, [self] { self.resume(); });
    }
    void await_resume() const {}
  };

  std::shared_ptr<EngineContext> context_;
  std::span<const workload::Request> requests_;
  std::function<void(std::size_t)> on_progress_;
  io::Event work_;
  Scheduler scheduler_;
  std::shared_ptr<SaveQueue> saves_;
  Arrivals arrivals_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Sequence>> live_;  // by order
  std::size_t ended_count_ = 0;
  Nanos last_end_{0};          // planned, of the last step
  bool back_to_back_ = false;  // no idle time since then
  bool cancelled_ = false;
  io::Loop::Timer step_timer_;
  std::coroutine_handle<> step_waiter_;
  io::Loop::Timer idle_timer_;
  CancelSource::Listener on_cancel_;
  // Where fill_slice() stands in the step.
  std::size_t fill_chunk_ = 0;
  std::size_t fill_block_ = 0;
};

Emulator::Emulator(std::shared_ptr<EngineContext> context,
                   std::span<const workload::Request> requests, CancelSource* cancel,
                   std::function<void(std::size_t)> on_progress)
    : context_(std::move(context)),
      requests_(requests),
      on_progress_(std::move(on_progress)),
      work_(*context_->loop),
      scheduler_(context_, [this] { work_.set(); }),
      saves_(std::make_shared<SaveQueue>(context_, [this] { work_.set(); })),
      arrivals_(*context_->loop, requests,
                [this](std::size_t position, Nanos intended) { on_due(position, intended); }),
      cancelled_(cancel != nullptr && cancel->cancelled()),
      on_cancel_(cancel, [this] { cancel_now(); }) {}

void Emulator::cancel_now() {
  cancelled_ = true;
  work_.set();
  if (step_timer_.armed()) {
    step_timer_.cancel();
    context_->loop->arm(step_timer_, context_->loop->now(),
                        [self = step_waiter_] { self.resume(); });
  }
}

Task<void> Emulator::run() {
  arrivals_.start(context_->origin);
  Step step;
  while (!cancelled_ && ended_count_ < requests_.size()) {
    scheduler_.compose(step);
    if (step.empty()) {
      back_to_back_ = false;
      co_await wait_for_work();
      continue;
    }
    co_await execute(&step);
    if (cancelled_) break;
    finish(step);
  }
  co_await wind_down();
}

void Emulator::on_due(std::size_t position, Nanos intended) {
  const workload::Request& request = requests_[position];
  const Nanos now = context_->loop->now();
  auto owned = std::make_unique<Sequence>();
  Sequence& sequence = *owned;
  sequence.request = &request;
  sequence.order = position;
  // An engine computes at least one token and gives at least one.
  sequence.input_tokens = std::max(1U, request.input_tokens);
  sequence.output_tokens = std::max(1U, request.output_tokens);
  sequence.target_tokens = sequence.input_tokens;
  RequestRecord& record = sequence.record;
  record.index = request.index;
  record.session = request.session;
  record.input_tokens = request.input_tokens;
  record.output_tokens = request.output_tokens;
  record.intended_ns = context_->since_origin(intended);
  record.send_ns = context_->since_origin(now);
  context_->result.lag_ns.record(static_cast<std::uint64_t>((now - intended).count()));
  sequence.phase.start(intended, Phase::kOther);
  sequence.phase.enter(Phase::kQueue, now);
  live_.emplace(position, std::move(owned));
  if (!can_ever_fit(sequence)) {
    end(sequence, RequestState::kFailed);
    return;
  }
  {
    const CpuMeter meter(*context_);
    sequence.blocks =
        prompt_blocks(request, context_->options.block_tokens, context_->options.space);
  }
  scheduler_.arrive(sequence);
}

bool Emulator::can_ever_fit(const Sequence& sequence) const {
  const std::uint64_t tokens = std::uint64_t{sequence.input_tokens} + sequence.output_tokens - 1;
  return divide_up(tokens, context_->options.block_tokens) <= context_->pool->block_count();
}

// Sleeps until something changes. A sequence that waits for HBM that nobody gives back (a backend
// that never ends its calls holds it) fails in the end: after twice the load deadline, when all
// that could still have given back something has had its time.
Task<void> Emulator::wait_for_work() {
  bool nothing_happened = false;
  work_.reset();
  if (scheduler_.oldest() != nullptr) {
    context_->loop->arm(idle_timer_, context_->loop->now() + 2 * context_->options.load_deadline,
                        [this, &nothing_happened] {
                          nothing_happened = true;
                          work_.set();
                        });
  }
  co_await work_.wait();
  idle_timer_.cancel();
  if (!nothing_happened || cancelled_) co_return;
  if (Sequence* sequence = scheduler_.oldest()) end(*sequence, RequestState::kFailed);
}

Task<void> Emulator::execute(Step* step) {
  io::Loop& loop = *context_->loop;
  const Nanos now = loop.now();
  const bool catch_up = back_to_back_ && now - last_end_ <= kCatchUpMax;
  const Nanos planned_end = (catch_up ? last_end_ : now) + step->time();
  fill_chunk_ = 0;
  fill_block_ = 0;
  while (!fill_slice(*step)) co_await loop.yield();
  co_await StepEnd{*this, planned_end};
  if (cancelled_) co_return;
  context_->result.step_lag_ns.record(
      static_cast<std::uint64_t>(std::max(Nanos(0), loop.now() - planned_end).count()));
  last_end_ = planned_end;
  back_to_back_ = true;
}

// Writes the contents of the blocks that this step completes, while the accelerator "computes".
// True when all are written.
bool Emulator::fill_slice(const Step& step) {
  if (step.prefill.empty()) return true;
  const CpuMeter meter(*context_);
  std::uint64_t bytes = 0;
  for (; fill_chunk_ < step.prefill.size(); ++fill_chunk_, fill_block_ = 0) {
    const auto& [sequence, tokens] = step.prefill[fill_chunk_];
    const std::size_t end =
        std::min<std::size_t>(sequence->blocks.names.size(), (sequence->computed_tokens + tokens) /
                                                                 context_->options.block_tokens);
    for (std::size_t i = std::max(fill_block_, sequence->published); i < end; ++i) {
      fill_content(context_->pool->bytes(sequence->slots[i]),
                   context_->key_of(sequence->blocks.names[i]));
      context_->result.filled_bytes += context_->block_bytes;
      bytes += context_->block_bytes;
      fill_block_ = i + 1;
      if (bytes >= kContentSliceBytes) return false;
    }
  }
  return true;
}

void Emulator::finish(const Step& step) {
  EngineResult& result = context_->result;
  ++result.steps;
  result.prefill_tokens += step.prefill_tokens;
  result.decode_tokens += step.decode.size();
  if (step.prefill_tokens > 0) {
    context_->backend->observe_prefill(step.prefill_tokens, step.prefill_time);
  }
  for (Sequence* sequence : step.decode) {
    ++sequence->computed_tokens;
    next_token(*sequence);
  }
  for (const Chunk& chunk : step.prefill) {
    chunk.sequence->computed_tokens += chunk.tokens;
    publish_computed(*chunk.sequence);
    if (!chunk.sequence->prefilling()) next_token(*chunk.sequence);
  }
}

void Emulator::publish_computed(Sequence& sequence) {
  const std::size_t end = std::min<std::size_t>(
      sequence.blocks.names.size(), sequence.computed_tokens / context_->options.block_tokens);
  if (end > sequence.published) ++context_->version;
  for (std::size_t i = sequence.published; i < end; ++i) {
    const Slot parent = i == 0 ? kNoSlot : sequence.slots[i - 1];
    sequence.slots[i] =
        context_->pool->publish(sequence.slots[i], sequence.blocks.names[i], parent);
  }
  sequence.published = std::max(sequence.published, end);
}

void Emulator::next_token(Sequence& sequence) {
  if (sequence.generated_tokens++ == 0) first_token(sequence);
  if (sequence.generated_tokens >= sequence.output_tokens) end(sequence, RequestState::kDone);
}

void Emulator::first_token(Sequence& sequence) {
  const Nanos now = context_->loop->now();
  sequence.phase.stop(now);
  sequence.record.first_token_ns = context_->since_origin(now);
  sequence.record.recomputed_blocks = static_cast<std::uint32_t>(
      divide_up(sequence.input_tokens, context_->options.block_tokens) - sequence.own_from);
  offer_computed(sequence);
}

void Emulator::offer_computed(Sequence& sequence) {
  std::vector<SaveItem> items;
  items.reserve(sequence.published - sequence.own_from);
  for (std::size_t i = sequence.own_from; i < sequence.published; ++i) {
    context_->pool->hold(sequence.slots[i]);
    items.push_back({.slot = sequence.slots[i],
                     .name = sequence.blocks.names[i],
                     .id = sequence.blocks.ids[i],
                     .parent = i == 0 ? store::kNoParent : sequence.blocks.ids[i - 1],
                     .chain_depth = static_cast<std::uint32_t>(i)});
  }
  if (!items.empty()) saves_->offer(std::move(items), sequence.request->index + 1);
}

void Emulator::end(Sequence& sequence, RequestState state) {
  const Nanos now = context_->loop->now();
  const std::uint64_t position = sequence.order;
  scheduler_.end(sequence);
  sequence.phase.stop(now);
  RequestRecord& record = sequence.record;
  record.state = state;
  record.end_ns = context_->since_origin(now);
  record.queue_ns = sequence.phase.ns(Phase::kQueue);
  record.lookup_ns = sequence.phase.ns(Phase::kLookup);
  record.read_ns = sequence.phase.ns(Phase::kRead);
  record.recompute_ns = sequence.phase.ns(Phase::kRecompute);
  record.other_ns = sequence.phase.ns(Phase::kOther);
  context_->result.records.push_back(record);
  live_.erase(position);
  ++ended_count_;
  if (state == RequestState::kUnfinished) return;
  arrivals_.ended(position);
  if (on_progress_) on_progress_(ended_count_);
  work_.set();
}

Task<void> Emulator::wind_down() {
  io::Loop& loop = *context_->loop;
  arrivals_.stop();
  scheduler_.abandon_loads();
  std::vector<Sequence*> rest;
  for (const auto& [order, sequence] : live_) rest.push_back(sequence.get());
  for (Sequence* sequence : rest) end(*sequence, RequestState::kUnfinished);
  if (cancelled_) context_->backend->interrupt();
  const Nanos until = loop.now() + (cancelled_ ? kInterruptGrace : context_->options.load_deadline);
  bool late = false;
  loop.arm(idle_timer_, until, [this, &late] {
    late = true;
    work_.set();
  });
  while (!late && !(saves_->idle() && scheduler_.loads_idle())) {
    work_.reset();
    co_await work_.wait();
  }
  idle_timer_.cancel();
  saves_->stop();
}

EngineResult Emulator::take_result() {
  EngineResult result = std::move(context_->result);
  context_->result = {};
  result.hbm_evicted_blocks = context_->pool->evicted_count();
  std::sort(result.records.begin(), result.records.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (const RequestRecord& record : result.records) {
    if (&record == &result.records.front()) first = record.intended_ns;
    first = std::min(first, record.intended_ns);
    last = std::max(last, record.end_ns);
  }
  result.span = Nanos(std::max<std::int64_t>(0, last - first));
  return result;
}

Status check_options(const EngineOptions& options) {
  if (options.block_tokens == 0) return fail(Errc::kInvalid, "engine: block_tokens");
  if (options.kv_bytes_per_token == 0) return fail(Errc::kInvalid, "engine: kv_bytes_per_token");
  if (options.step_token_budget == 0) return fail(Errc::kInvalid, "engine: step_token_budget");
  if (options.sequences_max == 0) return fail(Errc::kInvalid, "engine: sequences_max");
  if (!(options.prefill_tokens_per_second > 0)) {
    return fail(Errc::kInvalid, "engine: prefill_tokens_per_second");
  }
  return {};
}

}  // namespace

Task<EngineResult> run_emulated(io::Loop* loop, std::span<const workload::Request> requests,
                                KvBackend* backend, EngineOptions options, CancelSource* cancel,
                                std::function<void(std::size_t done)> on_progress) {
  EngineResult result;
  result.status = check_options(options);
  if (!result.status) co_return result;
  auto context = std::make_shared<EngineContext>();
  context->block_bytes = options.kv_bytes_per_token * options.block_tokens;
  auto pool = HbmPool::make(options.hbm_kv_bytes, context->block_bytes);
  if (!pool) {
    result.status = std::unexpected(pool.error());
    co_return result;
  }
  context->loop = loop;
  context->backend = backend;
  context->layout = layout_word(options.space.tenant, options.space.layout_fingerprint);
  context->pool = std::move(*pool);
  context->options = std::move(options);
  context->origin = loop->now();
  Emulator emulator(context, requests, cancel, std::move(on_progress));
  co_await emulator.run();
  result = emulator.take_result();
  co_return result;
}

}  // namespace forebay::engine

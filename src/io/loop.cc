#include "io/loop.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace forebay::io {
namespace {

// Nothing to do: wait this long at most, so that a lost wake-up costs a delay, not a hang.
constexpr Nanos kIdleWaitMax = std::chrono::milliseconds(100);

}  // namespace

// A task that runs beside its spawner; reaped by the loop after it ended.
struct Loop::Spawned {
  Task<void> task;
};

Loop::Loop(Engine& engine) : engine_(engine) {}

Loop::~Loop() {
  for (Timer* timer : heap_) timer->loop_ = nullptr;
  while (!prepares_.empty()) prepares_.pop_front().loop_ = nullptr;
}

void Loop::spawn(Task<void> task) {
  auto spawned = std::make_unique<Spawned>(Spawned{std::move(task)});
  Spawned* entry = spawned.get();
  spawned_.push_back(std::move(spawned));
  entry->task.start();
}

std::size_t Loop::spawned_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(spawned_, [](const auto& s) { return !s->task.done(); }));
}

void Loop::run_due() {
  run_posted();
  fire_due_timers();
}

void Loop::poll() {
  std::erase_if(spawned_, [](const auto& s) { return s->task.done(); });
  run_prepares();
  Nanos wait = prepares_.empty() ? kIdleWaitMax : Nanos{0};
  if (!heap_.empty()) wait = std::clamp(heap_.front()->at_ - now(), Nanos{0}, wait);
  engine_.poll(wait);
}

void Loop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(work));
  }
  engine_.wake();
}

void Loop::run_posted() {
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(posted_mutex_);
    work.swap(posted_);
  }
  for (const auto& item : work) item();
}

void Loop::arm(Prepare& prepare, std::function<void()> on_prepare) {
  prepare.cancel();
  prepare.loop_ = this;
  prepare.on_prepare_ = std::move(on_prepare);
  prepares_.push_back(prepare);
}

void Loop::Prepare::cancel() {
  if (loop_ == nullptr) return;
  loop_->prepares_.remove(*this);
  loop_ = nullptr;
  on_prepare_ = nullptr;
}

// What these arm again is for the next turn: it must not starve the engine.
void Loop::run_prepares() {
  for (std::size_t left = prepares_.size(); left > 0 && !prepares_.empty(); --left) {
    Prepare& prepare = prepares_.pop_front();
    prepare.loop_ = nullptr;
    const auto run = std::move(prepare.on_prepare_);
    prepare.on_prepare_ = nullptr;
    run();
  }
}

void Loop::arm(Timer& timer, Nanos at, std::function<void()> on_fire) {
  timer.cancel();
  timer.loop_ = this;
  timer.at_ = at;
  timer.sequence_ = next_sequence_++;
  timer.on_fire_ = std::move(on_fire);
  timer.heap_index_ = heap_.size();
  heap_.push_back(&timer);
  heap_sift(timer.heap_index_);
}

void Loop::Timer::cancel() {
  if (loop_ == nullptr) return;
  loop_->heap_remove(heap_index_);
  loop_ = nullptr;
  on_fire_ = nullptr;
}

void Loop::heap_remove(std::size_t index) {
  Timer* last = heap_.back();
  heap_.pop_back();
  if (index == heap_.size()) return;
  heap_[index] = last;
  last->heap_index_ = index;
  heap_sift(index);
}

void Loop::heap_sift(std::size_t index) {
  const auto before = [](const Timer* a, const Timer* b) {
    return a->at_ != b->at_ ? a->at_ < b->at_ : a->sequence_ < b->sequence_;
  };
  const auto swap_with = [this](std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    heap_[a]->heap_index_ = a;
    heap_[b]->heap_index_ = b;
  };
  while (index > 0 && before(heap_[index], heap_[(index - 1) / 2])) {
    swap_with(index, (index - 1) / 2);
    index = (index - 1) / 2;
  }
  while (true) {
    std::size_t least = index;
    for (const std::size_t child : {2 * index + 1, 2 * index + 2}) {
      if (child < heap_.size() && before(heap_[child], heap_[least])) least = child;
    }
    if (least == index) return;
    swap_with(index, least);
    index = least;
  }
}

void Loop::fire_due_timers() {
  // Only what was armed before this round: a timer that re-arms itself for now() must not starve
  // the engine.
  const Nanos instant = now();
  const std::uint64_t limit = next_sequence_;
  while (!heap_.empty() && heap_.front()->at_ <= instant && heap_.front()->sequence_ < limit) {
    Timer& timer = *heap_.front();
    heap_remove(0);
    timer.loop_ = nullptr;
    const auto fire = std::move(timer.on_fire_);
    timer.on_fire_ = nullptr;
    fire();
  }
}

void Event::set() {
  if (set_) return;
  set_ = true;
  std::vector<std::coroutine_handle<>> waiters;
  waiters.swap(waiters_);
  for (const auto waiter : waiters) loop_.post([waiter] { waiter.resume(); });
}

}  // namespace forebay::io

#include "store/tier/flash_writer.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace forebay::store {
namespace {

constexpr std::size_t kIdleJobsMax = 64;
// Between two turns of the loop: a checksum of this much takes less than a millisecond.
constexpr std::size_t kBytesPerTurn = 2 * kMiB;
// Reserved at once, so that what a call puts together lies together; small enough that several
// calls find room in the window of LogHead.
constexpr std::size_t kBytesPerReserve = 16 * kMiB;

Error why_ended(Wake wake) {
  return wake == Wake::kCancelled ? Error(Errc::kCancelled, "flash append: cancelled")
                                  : Error(Errc::kTimedOut, "flash append: deadline");
}

}  // namespace

FlashWriter::FlashWriter(FlashCore& core) : core_(core), head_(core) {
  head_.on_header_settled([this] { pump_commits(); });
  // Who waits for room learns that none will come.
  core_.health.on_change([this] { head_.changed().notify(); });
}
FlashWriter::~FlashWriter() = default;

void FlashWriter::Detach::operator()(AppendJob* job) const { job->detach(); }

AppendJob* FlashWriter::take() {
  AppendJob* job = nullptr;
  if (idle_.empty()) {
    job = new AppendJob(*this, core_);
  } else {
    job = idle_.back().release();
    idle_.pop_back();
  }
  job->previous_active = nullptr;
  job->next_active = active_;
  if (active_ != nullptr) active_->previous_active = job;
  active_ = job;
  return job;
}

void FlashWriter::give_back(AppendJob* job) {
  std::unique_ptr<AppendJob> owned(job);
  if (job->next_active != nullptr) job->next_active->previous_active = job->previous_active;
  (job->previous_active != nullptr ? job->previous_active->next_active : active_) =
      job->next_active;
  if (idle_.size() < kIdleJobsMax) idle_.push_back(std::move(owned));
}

bool FlashWriter::appending(const BlockId& id) const {
  for (const AppendJob* job = active_; job != nullptr; job = job->next_active) {
    if (job->holds_undecided(id)) return true;
  }
  return false;
}

Status FlashWriter::check(const FlashAppend& item) const {
  const RecordFacts& facts = item.facts;
  if (facts.tenant.size() > kTenantBytesMax || facts.layout_fingerprint.size() > kLayoutBytesMax ||
      facts.engine_key.size() > kEngineKeyBytesMax) {
    return fail(Errc::kInvalid, "flash append: a name is too long");
  }
  if (block::total_bytes(item.data.pieces) != facts.data_bytes) {
    return fail(Errc::kInvalid, "flash append: the lent pieces are not data_bytes");
  }
  if (facts.data_bytes > core_.layout().data_bytes_max()) {
    return fail(Errc::kInvalid, "flash append: larger than a record can be");
  }
  return {};
}

Result<std::size_t> FlashWriter::reserve_some(AppendJob& job, std::span<FlashAppend> items,
                                              std::size_t at, const AppendExtras* extras) {
  const std::size_t start = at;
  std::size_t bytes = 0;
  for (; at < items.size() && bytes < kBytesPerReserve; ++at) {
    FlashAppend& item = items[at];
    item.page = kNoFlashPage;
    item.status = check(item);
    if (!item.status) continue;
    if (extras != nullptr && !extras->moved_from.empty()) {
      // Decided here, where the copy gets its place in time: a newer copy or a forget() must come
      // after it in the log, never before.
      const FlashPage from = extras->moved_from[at];
      if (!core_.owner().is_live(item.facts.id, from) || appending(item.facts.id)) {
        item.status = fail(Errc::kNotFound, "flash: no longer wanted");
        continue;
      }
    }
    LogHead::Wanted wanted{.facts = item.facts, .data_bytes = item.facts.data_bytes};
    if (extras != nullptr) {
      wanted.kind = extras->kind;
      wanted.for_reclaim = extras->for_reclaim;
    }
    const auto place = head_.reserve(wanted);
    if (!place) {
      if (at > start) break;
      return std::unexpected(place.error());
    }
    job.add(item, *place);
    bytes += item.facts.data_bytes;
  }
  return at - start;
}

Task<Status> FlashWriter::lay_all(AppendJob* job, FlashCall call) {
  std::size_t bytes = 0;
  while (!job->nothing_to_lay()) {
    bytes += job->lay_next();
    if (bytes < kBytesPerTurn) continue;
    bytes = 0;
    co_await core_.loop().yield();
    if (call.cancel != nullptr && call.cancel->cancelled()) {
      co_return std::unexpected(why_ended(Wake::kCancelled));
    }
    if (core_.now() >= call.io.deadline) co_return std::unexpected(why_ended(Wake::kTimedOut));
  }
  co_return Status{};
}

Task<Status> FlashWriter::wait_for_room(FlashCall call) {
  const std::uint64_t given_up = head_.times_given_up();
  Waiter waiter(core_.loop(), call.io.deadline, call.cancel);
  head_.changed().add(waiter);
  const Wake wake = co_await waiter;
  if (wake != Wake::kSignalled) co_return std::unexpected(why_ended(wake));
  if (head_.times_given_up() != given_up) {
    co_return fail(Errc::kNoSpace, "flash append: no segment can be freed");
  }
  co_return Status{};
}

Task<Status> FlashWriter::place_all(std::vector<JobHandle>* jobs, std::span<FlashAppend> items,
                                    FlashCall call, const Terms* terms) {
  std::size_t at = 0;
  Status status;
  while (status && at < items.size()) {
    AppendJob& job = *jobs->back();
    const auto reserved = reserve_some(job, items, at, terms->extras);
    if (reserved) {
      at += *reserved;
      status = co_await lay_all(&job, call);
    } else if (reserved.error().code != Errc::kBusy) {
      status = std::unexpected(reserved.error());
    } else if (!job.empty()) {
      // What this call has placed so far may be just what must become durable first.
      job.end_laying();
      jobs->push_back(new_job(call, *terms));
    } else {
      status = co_await wait_for_room(call);
    }
  }
  if (!status) {
    for (FlashAppend& item : items.subspan(at)) item.status = status;
  }
  jobs->back()->end_laying();
  co_return status;
}

FlashWriter::JobHandle FlashWriter::new_job(const FlashCall& call, const Terms& terms) {
  JobHandle job(take());
  job->begin(call, terms.extras, terms.claims.get());
  return job;
}

Task<void> FlashWriter::append_claimed(std::span<FlashAppend> items, FlashCall call, Terms terms) {
  for (FlashAppend& item : items) {
    item.page = kNoFlashPage;
    item.status = fail(Errc::kCancelled, "flash append: not reached");
  }
  std::vector<JobHandle> jobs;
  jobs.push_back(new_job(call, terms));
  const Status placed = co_await place_all(&jobs, items, call, &terms);
  std::optional<Error> ended;
  if (!placed &&
      (placed.error().code == Errc::kTimedOut || placed.error().code == Errc::kCancelled)) {
    ended = placed.error();
  }
  for (const JobHandle& job : jobs) {
    if (!ended && !job->all_decided()) {
      Waiter waiter(core_.loop(), call.io.deadline, call.cancel);
      job->wait_with(&waiter);
      const Wake wake = co_await waiter;
      job->wait_with(nullptr);
      if (wake != Wake::kSignalled) ended = why_ended(wake);
    }
    if (ended) job->give_up(*ended);
  }
  for (const JobHandle& job : jobs) {
    if (!job->must_wait()) continue;
    Waiter waiter(core_.loop(), kForever, nullptr);
    job->wait_with(&waiter);
    (void)co_await waiter;
    job->wait_with(nullptr);
  }
}

void FlashWriter::commit(AppendJob& job) {
  waiting_.push_back(&job);
  pump_commits();
}

void FlashWriter::pump_commits() {
  if (flush_running_) return;
  std::vector<AppendJob*> failed;
  std::erase_if(waiting_, [&](AppendJob* job) {
    const AppendJob::Headers headers = job->headers();
    if (headers == AppendJob::Headers::kPending) return false;
    (headers == AppendJob::Headers::kWritten ? flushing_ : failed).push_back(job);
    return true;
  });
  if (!flushing_.empty()) {
    flush_running_ = true;
    Transfer* flush = core_.transfers.take();
    flush->request.kind = block::RequestKind::kFlush;
    flush->context = this;
    flush->on_done = [](Transfer& done) {
      static_cast<FlashWriter*>(done.context)->finish_flush(done);
    };
    core_.queue(block::RequestKind::kFlush).submit(*flush);
  }
  for (AppendJob* job : failed) {
    job->committed(fail(Errc::kIo, "flash append: the segment's header was not written"));
  }
}

void FlashWriter::finish_flush(Transfer& done) {
  Status status;
  if (!done.request.done_bytes) status = std::unexpected(done.request.done_bytes.error());
  core_.transfers.give_back(&done);
  flush_running_ = false;
  const std::vector<AppendJob*> flushed = std::exchange(flushing_, {});
  pump_commits();  // the next group's flush runs while this group's callers go on
  for (AppendJob* job : flushed) job->committed(status);
}

}  // namespace forebay::store

#include "nvme/initiator/fabric_device.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::nvme::initiator {
namespace {

constexpr unsigned kAttemptsMax = 3;
constexpr Error kCacheLost{Errc::kIo,
                           "nvme: the connection was lost with writes that no flush had made "
                           "durable; they may be gone"};
constexpr Error kInDoubt{
    Errc::kGone, "nvme: the connection was lost; what was on its way may still take effect"};
constexpr std::uint64_t kDiscardBlocksMax = 1ULL << 31;  // a range counts them in 32 bits

bool is_change(block::RequestKind kind) {
  return kind == block::RequestKind::kWrite || kind == block::RequestKind::kDiscard;
}

void set_blocks(Sqe& sqe, std::uint64_t first, std::uint32_t count) {
  sqe.dwords10[0] = static_cast<std::uint32_t>(first);
  sqe.dwords10[1] = static_cast<std::uint32_t>(first >> 32);
  sqe.dwords10[2] = count - 1;  // from 0
}

}  // namespace

void FabricDevice::finish(block::Request& request, Result<std::size_t> done) {
  request.done_bytes = done;
  request.on_done(request);
}

void FabricDevice::submit(block::Request& request) {
  if (const Status checked = check_request(request, geometry_); !checked) {
    return finish(request, std::unexpected(checked.error()));
  }
  if (is_change(request.kind) && geometry_.read_only) {
    return finish(request, fail(Errc::kReadOnly, "device: opened for reading only"));
  }
  if (guard_lost_ && request.kind != block::RequestKind::kRead) {
    return finish(request, std::unexpected(*guard_lost_));
  }
  if (state_ != FabricState::kReady && state_ != FabricState::kLost) {
    return finish(request, fail(Errc::kGone, "nvme: the target is out of reach"));
  }
  // Contents that no longer matter may stay.
  if (request.kind == block::RequestKind::kDiscard && !facts_.deallocates) {
    return finish(request, std::size_t{0});
  }
  Job& job = take_job(request);
  job.waiting = true;
  waiting_.push_back(job);
  const std::uint64_t serial = job.serial;
  pump();
  // Still there, and still waiting: the request itself may be gone.
  if (job.serial == serial && job.waiting) note_deadline(request.deadline);
}

Job& FabricDevice::take_job(block::Request& request) {
  if (free_jobs_.empty()) {
    jobs_.push_back(std::make_unique<Job>());
    free_jobs_.push_back(jobs_.back().get());
  }
  Job& job = *free_jobs_.back();
  free_jobs_.pop_back();
  job =
      Job{.request = &request, .cursor = ScatterCursor(request.buffers), .serial = next_serial_++};
  request.device_word = &job;
  return job;
}

Command& FabricDevice::take_command(Job& job) {
  if (free_commands_.empty()) {
    commands_.push_back(std::make_unique<Command>());
    free_commands_.push_back(commands_.back().get());
  }
  Command& command = *free_commands_.back();
  free_commands_.pop_back();
  command.base = QueueCommand{};
  command.device = this;
  command.job = &job;
  command.pieces.clear();
  command.attempts = 0;
  command.in_doubt = false;
  ++job.command_count;
  return command;
}

// Sends what the queues have room for; a call from within only asks for another round.
void FabricDevice::pump() {
  pump_again_ = true;
  if (pumping_) return;
  pumping_ = true;
  while (std::exchange(pump_again_, false)) pump_once();
  pumping_ = false;
}

void FabricDevice::pump_once() {
  while (!again_.empty() || !waiting_.empty()) {
    Connection* connection = association_ ? association_->pick_queue() : nullptr;
    if (connection == nullptr) return;
    if (!again_.empty()) {
      send(again_.pop_front(), *connection);
    } else {
      cut(*waiting_.front(), *connection);
    }
  }
}

// Makes the next command of the request that has waited longest.
void FabricDevice::cut(Job& job, Connection& connection) {
  const block::RequestKind kind = job.request->kind;
  if (guard_lost_ && kind != block::RequestKind::kRead) return fail_job(job, *guard_lost_);
  if (kind == block::RequestKind::kFlush && std::exchange(cache_lost_, false)) {
    return fail_job(job, kCacheLost);
  }
  Command& command = take_command(job);
  command.base.sqe.namespace_id = options_.association.namespace_id;
  if (kind == block::RequestKind::kFlush) {
    command.base.sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kFlush);
    command.flush_covers = written_;
  } else if (kind == block::RequestKind::kDiscard) {
    fill_discard(command, job);
  } else {
    fill_transfer(command, job);
  }
  if (job.cut_bytes == job.request->length_bytes || kind == block::RequestKind::kFlush) {
    job.waiting = false;
    waiting_.pop_front();
  }
  command.base.pieces = command.pieces;
  send(command, connection);
}

void FabricDevice::fill_transfer(Command& command, Job& job) {
  const block::Request& request = *job.request;
  const bool reads = request.kind == block::RequestKind::kRead;
  const auto size = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(request.length_bytes - job.cut_bytes, facts_.transfer_bytes_max));
  command.base.sqe.opcode = static_cast<std::uint8_t>(reads ? IoOpcode::kRead : IoOpcode::kWrite);
  command.base.direction = reads ? DataDirection::kToHost : DataDirection::kFromHost;
  command.base.data_bytes = size;
  set_blocks(command.base.sqe, (request.offset_bytes + job.cut_bytes) / facts_.block_bytes,
             size / facts_.block_bytes);
  for (std::uint32_t left = size; left > 0;) {
    const auto piece = job.cursor.take(left);
    command.pieces.push_back({piece.data(), piece.size()});
    left -= static_cast<std::uint32_t>(piece.size());
  }
  job.cut_bytes += size;
}

void FabricDevice::fill_discard(Command& command, Job& job) {
  const std::uint64_t blocks =
      std::min((job.request->length_bytes - job.cut_bytes) / facts_.block_bytes, kDiscardBlocksMax);
  command.range = {.block_count = static_cast<std::uint32_t>(blocks),
                   .first_block = (job.request->offset_bytes + job.cut_bytes) / facts_.block_bytes};
  command.base.sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kDatasetManagement);
  command.base.sqe.dwords10[1] = kDeallocate;  // dword 10 is 0: one range
  command.base.direction = DataDirection::kFromHost;
  command.base.data_bytes = sizeof command.range;
  command.pieces.push_back({&command.range, sizeof command.range});
  job.cut_bytes += blocks * facts_.block_bytes;
}

void FabricDevice::send(Command& command, Connection& connection) {
  command.connection = &connection;
  command.base.status = {};
  command.base.context = &command;
  command.base.on_done = [](QueueCommand& base) {
    auto& done = *static_cast<Command*>(base.context);
    done.device->on_command_done(done);
  };
  ++command.attempts;
  ++counters_.commands;
  connection.submit(command.base);
}

void FabricDevice::on_command_done(Command& command) {
  Connection& connection = *std::exchange(command.connection, nullptr);
  const bool reads = command.job->request->kind == block::RequestKind::kRead;
  if (command.base.status.code == StatusCode::kReservationConflict && !reads) {
    lose_guard({Errc::kExists, "nvme: another process has taken it over"});
  }
  if (command.base.status.code == StatusCode::kAbortRequested && command.base.overdue) {
    ++counters_.aborted;
    command.base.result =
        fail(Errc::kTimedOut, "nvme: a command was not answered in time, and was aborted");
  }
  if (command.base.result) {
    note_success(command);
  } else if (should_retry(command, connection)) {
    const bool broke = connection.queue().state() >= QueueState::kEnding;
    command.in_doubt = broke && command.base.sent;
    ++counters_.retries;
    again_.push_back(command);
    note_deadline(command.job->request->deadline);
    return pump();
  } else if (!command.job->error) {
    command.job->error = command.base.result.error();
  }
  end_command(command);
  pump();
}

void FabricDevice::note_success(const Command& command) {
  const block::RequestKind kind = command.job->request->kind;
  if (is_change(kind)) ++written_;
  if (kind == block::RequestKind::kFlush) flushed_ = std::max(flushed_, command.flush_covers);
}

// On a connection that broke nothing has failed but the connection: a command goes again, but for
// one that was the reason. Whether it may, the next connection shows (sort_again()).
bool FabricDevice::should_retry(const Command& command, const Connection& connection) const {
  const Job& job = *command.job;
  const bool reads = job.request->kind == block::RequestKind::kRead;
  if (job.error || command.attempts >= kAttemptsMax || state_ == FabricState::kClosing ||
      state_ == FabricState::kDown || loop_.now() >= job.request->deadline) {
    return false;
  }
  if (connection.queue().state() >= QueueState::kEnding) return reads || !command.base.overdue;
  const CommandStatus status = command.base.status;
  if (status.ok()) return reads;  // its data digest did not fit
  return status.code == StatusCode::kTransientTransport && !status.do_not_retry;
}

// The first thing on a new connection: of what was on its way when the last one broke, a change
// goes again when its first sending can land no more, for it could land after what follows; a flush
// when it finds the same cache.
void FabricDevice::sort_again(bool fenced, bool cache_kept) {
  std::vector<std::pair<Command*, Error>> over;
  IntrusiveQueue<Command, &Command::next> kept;
  while (!again_.empty()) {
    Command& command = again_.pop_front();
    const block::RequestKind kind = command.job->request->kind;
    const bool flushes = kind == block::RequestKind::kFlush;
    if (kind != block::RequestKind::kRead && guard_lost_) {
      over.emplace_back(&command, *guard_lost_);
    } else if (flushes && !cache_kept) {
      over.emplace_back(&command, kCacheLost);
    } else if (is_change(kind) && command.in_doubt && !fenced) {
      over.emplace_back(&command, kInDoubt);
    } else {
      kept.push_back(command);
    }
    if (flushes && !cache_kept) cache_lost_ = false;  // it is said
  }
  while (!kept.empty()) again_.push_back(kept.pop_front());
  for (const auto& [command, error] : over) {
    if (!command->job->error) command->job->error = error;
    end_command(*command);
  }
}

void FabricDevice::end_command(Command& command) {
  Job& job = *std::exchange(command.job, nullptr);
  --job.command_count;
  free_commands_.push_back(&command);
  settle(job);
}

// No more of it is sent; it ends when what was sent has.
void FabricDevice::fail_job(Job& job, const Error& error) {
  if (!job.error) job.error = error;
  settle(job);
}

void FabricDevice::settle(Job& job) {
  if (job.error && job.waiting) {
    job.waiting = false;
    FOREBAY_CHECK(waiting_.remove(job));
  }
  if (job.waiting || job.command_count > 0) return;
  block::Request& request = *std::exchange(job.request, nullptr);
  const bool transfer =
      request.kind == block::RequestKind::kRead || request.kind == block::RequestKind::kWrite;
  Result<std::size_t> done = transfer ? request.length_bytes : 0;
  if (job.error) done = std::unexpected(*job.error);
  free_jobs_.push_back(&job);
  finish(request, done);
}

void FabricDevice::cancel(block::Request& request) {
  auto* job = static_cast<Job*>(request.device_word);
  if (job == nullptr || job->request != &request) return;
  const Error cancelled(Errc::kCancelled, "device: cancelled");
  const std::uint64_t serial = job->serial;
  const auto same = [job, serial] { return job->request != nullptr && job->serial == serial; };
  if (!job->error) job->error = cancelled;
  // Giving one back may call the owner, who may submit: commands_ may grow, the job may end.
  for (std::size_t i = 0; i < commands_.size() && same(); ++i) {
    Command& command = *commands_[i];
    if (command.job != job) continue;
    if (command.connection != nullptr) {
      command.connection->abandon(command.base, cancelled);
    } else if (again_.remove(command)) {
      end_command(command);
    }
  }
  if (same()) settle(*job);
}

// Ends what waits and is due by then.
void FabricDevice::drop_waiting(const Error& error, Nanos due_by) {
  std::vector<std::pair<Job*, std::uint64_t>> due;
  IntrusiveQueue<Command, &Command::next> later;
  std::vector<Command*> over;
  while (!again_.empty()) {
    Command& command = again_.pop_front();
    if (command.job->request->deadline <= due_by) {
      over.push_back(&command);
    } else {
      later.push_back(command);
    }
  }
  while (!later.empty()) again_.push_back(later.pop_front());
  for (Job* job = waiting_.front(); job != nullptr; job = job->next) {
    if (job->request->deadline <= due_by) due.emplace_back(job, job->serial);
  }
  for (Command* command : over) {
    if (!command->job->error) command->job->error = error;
    end_command(*command);
  }
  for (const auto& [job, serial] : due) {
    if (job->request != nullptr && job->serial == serial && job->waiting) fail_job(*job, error);
  }
}

// One timer for the earliest deadline of what waits. It may come when nothing does.
void FabricDevice::note_deadline(Nanos deadline) {
  if (deadline >= deadline_) return;
  deadline_ = deadline;
  loop_.arm(deadline_timer_, deadline, [this] { on_deadline(); });
}

void FabricDevice::on_deadline() {
  deadline_ = kForever;
  drop_waiting({Errc::kTimedOut, "device: its deadline passed while it waited"}, loop_.now());
  Nanos earliest = kForever;
  for (const Job* job = waiting_.front(); job != nullptr; job = job->next) {
    earliest = std::min(earliest, job->request->deadline);
  }
  for (const Command* command = again_.front(); command != nullptr; command = command->next) {
    earliest = std::min(earliest, command->job->request->deadline);
  }
  note_deadline(earliest);
}

}  // namespace forebay::nvme::initiator

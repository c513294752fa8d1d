#include "io/sim.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"
#include "io/transfer_rest.h"

namespace forebay::io {
namespace {

constexpr std::uint32_t kSimAlignBytes = 4096;
constexpr std::size_t kSegmentBytesMax = 64 << 10;

// Takes the beginning of `from`: segments of any size, as networks make them.
std::size_t put_segment(std::span<const iovec> from, std::deque<std::byte>& incoming,
                        std::size_t bytes_max, Rng& rng) {
  const std::size_t limit =
      std::min({total_bytes(from), kSegmentBytesMax, bytes_max - incoming.size()});
  const std::size_t size = limit == 0 ? 0 : limit - rng.below((limit + 1) / 2);
  std::size_t left = size;
  for (const iovec& piece : from) {
    const std::size_t here = std::min(left, piece.iov_len);
    const auto* base = static_cast<const std::byte*>(piece.iov_base);
    incoming.insert(incoming.end(), base, base + here);
    left -= here;
  }
  return size;
}

// Moves the beginning of `incoming` to `places`, as much as they hold.
std::size_t take_bytes(std::deque<std::byte>& incoming, std::span<const iovec> places) {
  std::size_t size = 0;
  for (const iovec& place : places) {
    const std::size_t here = std::min(incoming.size() - size, place.iov_len);
    std::copy_n(incoming.begin() + static_cast<std::ptrdiff_t>(size), here,
                static_cast<std::byte*>(place.iov_base));
    size += here;
  }
  incoming.erase(incoming.begin(), incoming.begin() + static_cast<std::ptrdiff_t>(size));
  return size;
}

bool is_socket_kind(OpKind kind) {
  return kind == OpKind::kAccept || kind == OpKind::kConnect || kind == OpKind::kReceive ||
         kind == OpKind::kSend;
}

std::uint16_t port_of(const void* address) {
  return ntohs(static_cast<const sockaddr_in*>(address)->sin_port);
}

}  // namespace

// One end of a connection; bytes that the peer may read lie in `incoming`.
struct SimEngine::Stream {
  std::deque<std::byte> incoming;
  Stream* peer = nullptr;  // null once the other end is closed
};

struct SimEngine::Entry {
  FileFacts facts;
  SimFile* file = nullptr;
  FileLock lock = FileLock::kNone;
  bool socket = false;
  std::uint16_t port = 0;                       // listening on it
  std::deque<std::unique_ptr<Stream>> backlog;  // connected, not yet accepted
  std::unique_ptr<Stream> stream;
};

SimEngine::SimEngine(SimOptions options, std::shared_ptr<SimDisk> disk)
    : options_(options),
      disk_(disk ? std::move(disk) : std::make_shared<SimDisk>()),
      rng_(Rng(options.seed).fork("engine")),
      faults_(options.seed) {
  clock_.set(options.start);
}

SimEngine::~SimEngine() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i]) close(static_cast<FileId>(i));
  }
}

SimEngine::Entry* SimEngine::entry(FileId file) const {
  const auto index = static_cast<std::size_t>(file);
  return file >= 0 && index < entries_.size() ? entries_[index].get() : nullptr;
}

FileId SimEngine::add(std::unique_ptr<Entry> made) {
  const auto free =
      std::ranges::find_if(entries_, [](const auto& present) { return present == nullptr; });
  const auto index = static_cast<FileId>(free - entries_.begin());
  if (free != entries_.end()) {
    *free = std::move(made);
  } else {
    entries_.push_back(std::move(made));
  }
  return index;
}

Result<FileId> SimEngine::open(const std::string& path, const OpenOptions& options) {
  if (vanished_ || power_cut_) return fail(Errc::kGone, "open", ENODEV);
  SimFile* file = disk_->find(path);
  if (file == nullptr && !options.create) return fail(Errc::kNotFound, "open", ENOENT);
  if (file == nullptr) file = &disk_->make(path);
  const bool shares = options.lock == FileLock::kShared && file->lock_holders >= 0;
  if (options.lock != FileLock::kNone && file->lock_holders != 0 && !shares) {
    return fail(Errc::kExists, "lock: another process has it open", EWOULDBLOCK);
  }
  auto made = std::make_unique<Entry>();
  made->file = file;
  made->lock = options.lock;
  if (options.lock == FileLock::kShared) ++file->lock_holders;
  if (options.lock == FileLock::kExclusive) file->lock_holders = -1;
  made->facts.size_bytes = file->size_bytes;
  made->facts.align_bytes = options.direct ? kSimAlignBytes : 1;
  made->facts.direct = options.direct;
  made->facts.transfer_bytes_max = options_.transfer_bytes_max;
  made->facts.transfer_probed = true;
  return add(std::move(made));
}

const FileFacts& SimEngine::facts(FileId file) const {
  const Entry* found = entry(file);
  FOREBAY_CHECK(found != nullptr);
  return found->facts;
}

Status SimEngine::allocate(FileId file, std::uint64_t size_bytes) {
  Entry& opened = *entry(file);
  const std::uint64_t others = disk_->used_bytes() - opened.file->size_bytes;
  if (size_bytes > disk_->capacity_bytes - std::min(others, disk_->capacity_bytes)) {
    return fail(Errc::kNoSpace, "allocate", ENOSPC);
  }
  opened.file->size_bytes = std::max(opened.file->size_bytes, size_bytes);
  opened.facts.size_bytes = opened.file->size_bytes;
  return {};
}

void SimEngine::close(FileId file) {
  Entry* closing = entry(file);
  FOREBAY_CHECK(closing != nullptr);
  if (closing->lock == FileLock::kShared) --closing->file->lock_holders;
  if (closing->lock == FileLock::kExclusive) closing->file->lock_holders = 0;
  if (closing->stream && closing->stream->peer != nullptr) closing->stream->peer->peer = nullptr;
  for (const auto& waiting : closing->backlog) {
    if (waiting->peer != nullptr) waiting->peer->peer = nullptr;
  }
  entries_[static_cast<std::size_t>(file)] = nullptr;
}

Result<FileId> SimEngine::listen(const void* address, std::uint32_t /*address_bytes*/) {
  auto made = std::make_unique<Entry>();
  made->socket = true;
  made->port = port_of(address) != 0 ? port_of(address) : next_port_++;
  return add(std::move(made));
}

Result<FileId> SimEngine::socket(int /*family*/) {
  auto made = std::make_unique<Entry>();
  made->socket = true;
  return add(std::move(made));
}

Result<std::uint16_t> SimEngine::local_port(FileId file) const {
  const Entry* found = entry(file);
  if (found == nullptr || found->port == 0) return fail(Errc::kInvalid, "local port");
  return found->port;
}

std::optional<Error> SimEngine::refusal(const Op& op) const {
  if (op.kind == OpKind::kNop) return std::nullopt;
  const Entry* opened = entry(op.file);
  const Error invalid(Errc::kInvalid, "io: bad file, too many pieces, or unaligned", EINVAL);
  if (opened == nullptr || opened->socket != is_socket_kind(op.kind)) return invalid;
  if (op.kind != OpKind::kRead && op.kind != OpKind::kWrite) return std::nullopt;
  if (op.buffers.empty() || op.buffers.size() > kIovecsMax ||
      !all_aligned(op.buffers, op.offset_bytes, opened->facts.align_bytes)) {
    return invalid;
  }
  return std::nullopt;
}

Nanos SimEngine::completion_time(std::uint64_t bytes) {
  Nanos wire{0};
  if (options_.bytes_per_second > 0) {
    wire = Nanos(
        static_cast<std::int64_t>(static_cast<double>(bytes) / options_.bytes_per_second * 1e9));
  }
  wire_free_at_ = std::max(wire_free_at_, clock_.now()) + wire;
  Nanos jitter{0};
  if (options_.jitter > Nanos{0}) {
    jitter = Nanos(
        static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(options_.jitter.count()))));
  }
  return wire_free_at_ + options_.latency + jitter;
}

void SimEngine::schedule(Op& op, Nanos at, Pending pending) {
  pending.op = &op;
  op.engine_word = next_sequence_;
  live_.emplace(next_sequence_, std::move(pending));
  events_.push({at, next_sequence_++});
}

Status SimEngine::submit(Op& op) {
  FOREBAY_CHECK(op.state == OpState::kIdle || op.state == OpState::kDone);
  if (in_flight_ >= options_.ops_max) return fail(Errc::kBusy, "submit: the queue is full");
  ++in_flight_;
  op.state = OpState::kInFlight;
  Pending pending;
  pending.outcome = refusal(op);
  if (!pending.outcome && (vanished_ || power_cut_) && op.kind != OpKind::kNop) {
    pending.outcome = Error(Errc::kGone, "device", ENODEV);
  }
  if (pending.outcome || op.kind == OpKind::kNop) {
    schedule(op, clock_.now(), std::move(pending));
    return {};
  }
  if (is_socket_kind(op.kind)) {
    if (!advance_socket(op)) socket_ops_.push_back(&op);
    return {};
  }
  pending.fault = faults_.strike(op.kind, op.offset_bytes);
  Nanos at = completion_time(total_bytes(op.buffers));
  if (pending.fault && pending.fault->kind == FaultKind::kLatency) at += pending.fault->latency;
  schedule(op, at, std::move(pending));
  if (op.kind == OpKind::kWrite) {
    ++writes_started_;
    if (writes_until_cut_ != 0 && --writes_until_cut_ == 0) cut_power();
  }
  return {};
}

void SimEngine::cancel(Op& op) {
  if (op.state != OpState::kInFlight) return;
  const bool on_socket = std::erase(socket_ops_, &op) != 0;
  const auto found = live_.find(op.engine_word);
  const bool scheduled = !on_socket && found != live_.end() && found->second.op == &op;
  if (!on_socket && !scheduled) return;  // stuck: like a real device, it keeps what it has
  if (scheduled) live_.erase(found);
  op.state = OpState::kCancelling;
  schedule(op, clock_.now(), {.outcome = Error(Errc::kCancelled, "cancelled", ECANCELED)});
}

void SimEngine::set_vanished(bool vanished) {
  vanished_ = vanished;
  if (!vanished) return;
  for (auto& [sequence, pending] : live_) {
    if (pending.op->kind != OpKind::kNop) pending.outcome = Error(Errc::kGone, "device", ENODEV);
  }
  release_stuck();
}

void SimEngine::release_stuck() {
  std::vector<Pending> stuck;
  stuck.swap(stuck_);
  for (Pending& pending : stuck) {
    pending.fault.reset();
    if (vanished_ || power_cut_) pending.outcome = Error(Errc::kGone, "device", ENODEV);
    Op& op = *pending.op;
    schedule(op, clock_.now(), std::move(pending));
  }
}

void SimEngine::cut_power() {
  // Writes in flight were in the device's hands: the crash decides what became of them.
  for (auto& [sequence, pending] : live_) {
    Op& op = *pending.op;
    if (op.kind == OpKind::kWrite && !pending.outcome) {
      write_with_fault(op, *entry(op.file)->file, pending.fault, total_bytes(op.buffers));
    }
    if (op.kind != OpKind::kNop) pending.outcome = Error(Errc::kGone, "power is cut", ENODEV);
  }
  power_cut_ = true;
  Rng fate = rng_.fork("power cut");
  disk_->crash(fate);
  release_stuck();
}

void SimEngine::write_with_fault(const Op& op, SimFile& file, const std::optional<FaultRule>& fault,
                                 std::size_t size) {
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (const iovec& piece : op.buffers) {
    const auto* base = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), base, base + piece.iov_len);
  }
  std::uint64_t offset = op.offset_bytes;
  if (fault && fault->kind == FaultKind::kLostWrite) return;
  if (fault && fault->kind == FaultKind::kTornWrite) {
    bytes.resize(faults_.rng().below(bytes.size() / kSimSectorBytes) * kSimSectorBytes);
  }
  if (fault && fault->kind == FaultKind::kMisdirected) offset += bytes.size();
  if (offset >= file.size_bytes) return;
  bytes.resize(std::min<std::uint64_t>(bytes.size(), file.size_bytes - offset));
  file.write(offset, bytes);
}

Result<std::size_t> SimEngine::perform_transfer(Op& op, SimFile& file,
                                                const std::optional<FaultRule>& fault) {
  if (fault && fault->kind == FaultKind::kIoError) return fail(Errc::kIo, "io", EIO);
  if (fault && fault->kind == FaultKind::kFull) return fail(Errc::kNoSpace, "io", ENOSPC);
  if (fault && fault->kind == FaultKind::kReadOnly) return fail(Errc::kReadOnly, "io", EROFS);
  const std::size_t wanted = total_bytes(op.buffers);
  const std::uint64_t room =
      op.offset_bytes < file.size_bytes ? file.size_bytes - op.offset_bytes : 0;
  std::size_t size = std::min<std::uint64_t>(wanted, room);
  if (op.kind == OpKind::kWrite) {
    if (size < wanted) return fail(Errc::kNoSpace, "write beyond the end", ENOSPC);
    write_with_fault(op, file, fault, size);
    return size;
  }
  if (fault && fault->kind == FaultKind::kShort) size = size / 2 / kSimAlignBytes * kSimAlignBytes;
  std::size_t at = 0;
  for (const iovec& piece : op.buffers) {
    const std::size_t count = std::min(piece.iov_len, size - at);
    file.read(op.offset_bytes + at, {static_cast<std::byte*>(piece.iov_base), count});
    at += count;
  }
  if (fault && fault->kind == FaultKind::kBitRot && size > 0) {
    std::size_t bit = faults_.rng().below(size * 8);
    for (const iovec& piece : op.buffers) {
      if (bit < piece.iov_len * 8) {
        static_cast<unsigned char*>(piece.iov_base)[bit / 8] ^=
            static_cast<unsigned char>(1U << (bit % 8));
        break;
      }
      bit -= piece.iov_len * 8;
    }
  }
  return size;
}

Result<std::size_t> SimEngine::perform(Op& op, const Pending& pending) {
  if (pending.outcome) return std::unexpected(*pending.outcome);
  if (op.kind == OpKind::kNop) return std::size_t{0};
  if (is_socket_kind(op.kind)) return static_cast<std::size_t>(op.length_bytes);
  SimFile& file = *entry(op.file)->file;
  if (op.kind == OpKind::kRead || op.kind == OpKind::kWrite) {
    return perform_transfer(op, file, pending.fault);
  }
  if (pending.fault && pending.fault->kind == FaultKind::kIoError) {
    if (op.kind == OpKind::kFlush) file.lose_unflushed();
    return fail(Errc::kIo, "io", EIO);
  }
  if (op.kind == OpKind::kFlush) {
    file.flush();
  } else {
    file.discard(op.offset_bytes, op.length_bytes);
  }
  return std::size_t{0};
}

void SimEngine::finish(Op& op, Result<std::size_t> done) {
  --in_flight_;
  op.state = OpState::kDone;
  op.done_bytes = done;
  if (op.on_done != nullptr) op.on_done(op);
}

// Runs what is due at this instant; what callbacks submit belongs to a later round.
std::size_t SimEngine::run_due() {
  std::vector<std::uint64_t> due;
  while (!events_.empty() && events_.top().at <= clock_.now()) {
    due.push_back(events_.top().sequence);
    events_.pop();
  }
  std::size_t ran = 0;
  for (const std::uint64_t sequence : due) {
    const auto found = live_.find(sequence);
    if (found == live_.end()) continue;
    Pending pending = std::move(found->second);
    live_.erase(found);
    if (!pending.outcome && pending.fault && pending.fault->kind == FaultKind::kStuck) {
      stuck_.push_back(std::move(pending));
      continue;
    }
    Op& op = *pending.op;
    finish(op, perform(op, pending));
    ++ran;
  }
  return ran;
}

std::size_t SimEngine::poll(Nanos wait) {
  const Nanos limit = clock_.now() + std::max(wait, Nanos{0});
  std::size_t ran = advance_sockets() + run_due();
  if (ran == 0 && !woken_) {
    const Nanos next = events_.empty() ? limit : std::min(limit, events_.top().at);
    clock_.set(std::max(clock_.now(), next));
    ran = run_due();
  }
  woken_ = false;
  return ran;
}

// True when the operation is over (its completion is scheduled).
bool SimEngine::advance_socket(Op& op) {
  Entry& opened = *entry(op.file);
  const Nanos at = clock_.now() + options_.latency / 4;
  const auto end_with = [&](std::size_t value) {
    op.length_bytes = value;  // carried to perform(); sockets have no other use for it
    schedule(op, at, {});
  };
  switch (op.kind) {
    case OpKind::kAccept: {
      if (opened.backlog.empty()) return false;
      auto made = std::make_unique<Entry>();
      made->socket = true;
      made->stream = std::move(opened.backlog.front());
      opened.backlog.pop_front();
      end_with(static_cast<std::size_t>(add(std::move(made))));
      return true;
    }
    case OpKind::kConnect: {
      const auto listener = std::ranges::find_if(entries_, [&op](const auto& other) {
        return other && other->port != 0 && other->port == port_of(op.address);
      });
      if (listener == entries_.end()) {
        schedule(op, at, {.outcome = error_from_errno(ECONNREFUSED, "connect")});
        return true;
      }
      opened.stream = std::make_unique<Stream>();
      auto other = std::make_unique<Stream>();
      opened.stream->peer = other.get();
      other->peer = opened.stream.get();
      (*listener)->backlog.push_back(std::move(other));
      end_with(0);
      return true;
    }
    case OpKind::kReceive: {
      if (!opened.stream) {
        schedule(op, at, {.outcome = error_from_errno(ENOTCONN, "receive")});
        return true;
      }
      auto& incoming = opened.stream->incoming;
      if (incoming.empty() && opened.stream->peer != nullptr) return false;
      end_with(take_bytes(incoming, op.buffers));
      return true;
    }
    case OpKind::kSend: {
      if (!opened.stream || opened.stream->peer == nullptr) {
        schedule(op, at, {.outcome = error_from_errno(EPIPE, "send")});
        return true;
      }
      auto& incoming = opened.stream->peer->incoming;
      if (incoming.size() >= options_.stream_bytes_max) return false;  // the peer does not read
      end_with(put_segment(op.buffers, incoming, options_.stream_bytes_max, rng_));
      return true;
    }
    case OpKind::kNop:
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kFlush:
    case OpKind::kDiscard:
      break;
  }
  return false;
}

std::size_t SimEngine::advance_sockets() {
  std::vector<Op*> waiting;
  waiting.swap(socket_ops_);
  std::size_t advanced = 0;
  for (Op* op : waiting) {
    if (advance_socket(*op)) {
      ++advanced;
    } else {
      socket_ops_.push_back(op);
    }
  }
  return advanced;
}

}  // namespace forebay::io

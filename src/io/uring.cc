#include "io/uring.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <liburing.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/log.h"
#include "io/file_table.h"
#include "io/transfer_rest.h"

namespace forebay::io {
namespace {

// user_data of entries that are not Ops.
constexpr std::uint64_t kWakeTag = 1;
constexpr std::uint64_t kCancelTag = 2;

// A transfer this large goes to the kernel by itself. In a batch its neighbours on the device would
// be merged with it, and a few requests of megabytes keep a device less busy than many.
constexpr std::size_t kAloneBytes = 64 * 1024;

class UringEngine final : public Engine {
 public:
  explicit UringEngine(std::size_t ops_max) : ops_max_(ops_max) {}
  ~UringEngine() override {
    if (wake_descriptor_ >= 0) ::close(wake_descriptor_);
    if (ring_open_) io_uring_queue_exit(&ring_);
  }

  Status start(std::string* why);

  [[nodiscard]] std::string_view name() const override { return "uring"; }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Result<FileId> open(const std::string& path, const OpenOptions& options) override {
    return files_.open(path, options);
  }
  [[nodiscard]] const FileFacts& facts(FileId file) const override { return files_.facts(file); }
  [[nodiscard]] Status allocate(FileId file, std::uint64_t size_bytes) override {
    return files_.allocate(file, size_bytes);
  }
  void close(FileId file) override { files_.close(file); }
  [[nodiscard]] Result<FileId> listen(const void* address, std::uint32_t address_bytes) override {
    return files_.listen(address, address_bytes);
  }
  [[nodiscard]] Result<FileId> socket(int family) override { return files_.socket(family); }
  [[nodiscard]] Result<std::uint16_t> local_port(FileId file) const override {
    return files_.local_port(file);
  }
  [[nodiscard]] std::string peer_name(FileId file) const override { return files_.peer_name(file); }
  [[nodiscard]] Status submit(Op& op) override;
  [[nodiscard]] std::size_t ops_max() const override { return ops_max_; }
  void cancel(Op& op) override;
  std::size_t poll(Nanos wait) override;
  void wake() override {
    const std::uint64_t one = 1;
    // Full means that a wake-up is already due.
    [[maybe_unused]] const auto written = ::write(wake_descriptor_, &one, sizeof one);
  }

 private:
  // What a short transfer still has to move.
  struct Progress {
    std::size_t done_bytes = 0;
    std::vector<iovec> rest;
  };

  io_uring_sqe* next_sqe();
  void prepare(io_uring_sqe* sqe, Op& op, std::span<const iovec> buffers, std::uint64_t offset);
  void prepare_transfer(io_uring_sqe* sqe, const Op& op, std::span<const iovec> buffers,
                        std::uint64_t offset);
  void prepare_stream(io_uring_sqe* sqe, Op& op);
  void arm_wake();
  bool complete(Op& op, int result);
  bool continue_short(Op& op, std::size_t moved);
  void finish(Op& op, Result<std::size_t> done);
  void submit_and_wait(Nanos wait);

  SystemClock clock_;
  FileTable files_;
  io_uring ring_{};
  bool ring_open_ = false;
  int wake_descriptor_ = -1;
  std::uint64_t wake_value_ = 0;
  std::size_t ops_max_;
  std::size_t in_flight_ = 0;
  std::vector<Op*> refused_;  // finished without the kernel; called back from poll()
  std::unordered_map<Op*, Progress> short_ops_;
};

std::string refusal_reason(int error) {
  int disabled = 0;
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
  if (disabled != 0) return fmt::format("kernel.io_uring_disabled is {}", disabled);
  if (error == ENOSYS) return "the kernel has no io_uring";
  if (error == EPERM) return "forbidden here (a container's seccomp profile?)";
  return std::strerror(error);
}

Status UringEngine::start(std::string* why) {
  // Newest first; older kernels refuse unknown flags with EINVAL.
  constexpr std::array<unsigned, 3> kFlagSets{
      IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_COOP_TASKRUN, 0};
  int error = EINVAL;
  for (const unsigned flags : kFlagSets) {
    io_uring_params params{};
    params.flags = flags | IORING_SETUP_CQSIZE;
    params.cq_entries = static_cast<unsigned>(std::max<std::size_t>(ops_max_ * 2, 64));
    const unsigned entries = static_cast<unsigned>(std::clamp<std::size_t>(ops_max_, 8, 4096));
    error = -io_uring_queue_init_params(entries, &ring_, &params);
    if (error != EINVAL) break;
  }
  if (error != 0) {
    *why = refusal_reason(error);
    return fail(Errc::kUnsupported, "io_uring setup", error);
  }
  ring_open_ = true;
  wake_descriptor_ = eventfd(0, EFD_CLOEXEC);
  if (wake_descriptor_ < 0) {
    error = errno;
    *why = fmt::format("no descriptor to wake it by: {}", std::strerror(error));
    return std::unexpected(error_from_errno(error, "eventfd"));
  }
  arm_wake();
  return {};
}

io_uring_sqe* UringEngine::next_sqe() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  if (sqe == nullptr) {
    io_uring_submit(&ring_);
    sqe = io_uring_get_sqe(&ring_);
  }
  FOREBAY_CHECK(sqe != nullptr);
  return sqe;
}

void UringEngine::arm_wake() {
  io_uring_sqe* sqe = next_sqe();
  io_uring_prep_read(sqe, wake_descriptor_, &wake_value_, sizeof wake_value_, 0);
  io_uring_sqe_set_data64(sqe, kWakeTag);
}

void UringEngine::prepare_transfer(io_uring_sqe* sqe, const Op& op, std::span<const iovec> buffers,
                                   std::uint64_t offset) {
  const int file = files_.descriptor(op.file);
  const bool read = op.kind == OpKind::kRead;
  if (buffers.size() == 1) {
    void* base = buffers[0].iov_base;
    const auto size = static_cast<unsigned>(buffers[0].iov_len);
    if (read) {
      io_uring_prep_read(sqe, file, base, size, offset);
    } else {
      io_uring_prep_write(sqe, file, base, size, offset);
    }
    return;
  }
  const auto count = static_cast<unsigned>(buffers.size());
  if (read) {
    io_uring_prep_readv(sqe, file, buffers.data(), count, offset);
  } else {
    io_uring_prep_writev(sqe, file, buffers.data(), count, offset);
  }
}

void UringEngine::prepare_stream(io_uring_sqe* sqe, Op& op) {
  const int file = files_.descriptor(op.file);
  const bool receives = op.kind == OpKind::kReceive;
  if (op.buffers.size() == 1) {
    const iovec& piece = op.buffers[0];
    if (receives) {
      io_uring_prep_recv(sqe, file, piece.iov_base, piece.iov_len, 0);
    } else {
      io_uring_prep_send(sqe, file, piece.iov_base, piece.iov_len, MSG_NOSIGNAL);
    }
    return;
  }
  op.message = message_of(op.buffers);
  if (receives) {
    io_uring_prep_recvmsg(sqe, file, &op.message, 0);
  } else {
    io_uring_prep_sendmsg(sqe, file, &op.message, MSG_NOSIGNAL);
  }
}

void UringEngine::prepare(io_uring_sqe* sqe, Op& op, std::span<const iovec> buffers,
                          std::uint64_t offset) {
  const int file = files_.descriptor(op.file);
  switch (op.kind) {
    case OpKind::kNop:
      io_uring_prep_nop(sqe);
      break;
    case OpKind::kRead:
    case OpKind::kWrite:
      prepare_transfer(sqe, op, buffers, offset);
      break;
    case OpKind::kFlush:
      io_uring_prep_fsync(sqe, file, IORING_FSYNC_DATASYNC);
      break;
    case OpKind::kDiscard:
      io_uring_prep_fallocate(sqe, file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              static_cast<off_t>(op.offset_bytes),
                              static_cast<off_t>(op.length_bytes));
      break;
    case OpKind::kAccept:
      io_uring_prep_accept(sqe, file, nullptr, nullptr, SOCK_CLOEXEC);
      break;
    case OpKind::kConnect:
      io_uring_prep_connect(sqe, file, static_cast<const sockaddr*>(op.address), op.address_bytes);
      break;
    case OpKind::kReceive:
    case OpKind::kSend:
      prepare_stream(sqe, op);
      break;
  }
  io_uring_sqe_set_data64(sqe, reinterpret_cast<std::uint64_t>(&op));
}

Status UringEngine::submit(Op& op) {
  FOREBAY_CHECK(op.state == OpState::kIdle || op.state == OpState::kDone);
  if (in_flight_ >= ops_max_) return fail(Errc::kBusy, "submit: the queue is full");
  ++in_flight_;
  const bool transfer = op.kind == OpKind::kRead || op.kind == OpKind::kWrite;
  const bool needs_buffer = transfer || op.kind == OpKind::kReceive || op.kind == OpKind::kSend;
  const bool bad_file = op.kind != OpKind::kNop && files_.descriptor(op.file) < 0;
  const bool bad_buffers = needs_buffer && (op.buffers.empty() || op.buffers.size() > kIovecsMax);
  if (bad_file || bad_buffers ||
      (transfer && !all_aligned(op.buffers, op.offset_bytes, files_.facts(op.file).align_bytes))) {
    op.state = OpState::kQueued;
    refused_.push_back(&op);
    return {};
  }
  op.state = OpState::kInFlight;
  prepare(next_sqe(), op, op.buffers, op.offset_bytes);
  if (transfer && total_bytes(op.buffers) >= kAloneBytes) io_uring_submit(&ring_);
  return {};
}

void UringEngine::cancel(Op& op) {
  if (op.state != OpState::kInFlight) return;
  op.state = OpState::kCancelling;
  io_uring_sqe* sqe = next_sqe();
  io_uring_prep_cancel64(sqe, reinterpret_cast<std::uint64_t>(&op), 0);
  io_uring_sqe_set_data64(sqe, kCancelTag);
}

void UringEngine::finish(Op& op, Result<std::size_t> done) {
  --in_flight_;
  op.state = OpState::kDone;
  op.done_bytes = done;
  if (op.on_done != nullptr) op.on_done(op);
}

// True when the rest of the transfer went back to the kernel.
bool UringEngine::continue_short(Op& op, std::size_t moved) {
  if (op.state == OpState::kCancelling || moved == 0) return false;
  Progress& progress = short_ops_[&op];
  progress.done_bytes += moved;
  if (progress.done_bytes >= total_bytes(op.buffers)) return false;
  progress.rest = rest_of(op.buffers, progress.done_bytes);
  const std::uint64_t offset = op.offset_bytes + progress.done_bytes;
  // A direct read that ended inside a sector has met the end of the file.
  if (!all_aligned(progress.rest, offset, files_.facts(op.file).align_bytes)) return false;
  prepare(next_sqe(), op, progress.rest, offset);
  return true;
}

// True when the op is over and its callback ran.
bool UringEngine::complete(Op& op, int result) {
  if (result == -EINTR || (result == -EAGAIN && op.state == OpState::kInFlight)) {
    const auto found = short_ops_.find(&op);
    if (found == short_ops_.end()) {
      prepare(next_sqe(), op, op.buffers, op.offset_bytes);
    } else {
      prepare(next_sqe(), op, found->second.rest, op.offset_bytes + found->second.done_bytes);
    }
    return false;
  }
  const bool transfer = op.kind == OpKind::kRead || op.kind == OpKind::kWrite;
  if (transfer && result >= 0 &&
      (static_cast<std::size_t>(result) < total_bytes(op.buffers) || !short_ops_.empty())) {
    if (continue_short(op, static_cast<std::size_t>(result))) return false;
  }
  std::size_t before = 0;
  if (const auto found = short_ops_.find(&op); found != short_ops_.end()) {
    before = found->second.done_bytes;
    short_ops_.erase(found);
  }
  if (result < 0) {
    finish(op, std::unexpected(error_from_errno(-result, "io")));
  } else if (op.kind == OpKind::kAccept) {
    finish(op, static_cast<std::size_t>(files_.adopt_socket(result)));
  } else if (transfer) {
    finish(op, std::max(before, static_cast<std::size_t>(result)));
  } else {
    finish(op, static_cast<std::size_t>(result));
  }
  return true;
}

void UringEngine::submit_and_wait(Nanos wait) {
  if (wait <= Nanos{0}) {
    io_uring_submit_and_get_events(&ring_);
    return;
  }
  if (io_uring_cq_ready(&ring_) != 0) {
    io_uring_submit(&ring_);
    return;
  }
  __kernel_timespec limit{.tv_sec = wait.count() / 1'000'000'000,
                          .tv_nsec = wait.count() % 1'000'000'000};
  io_uring_cqe* cqe = nullptr;
  io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &limit, nullptr);
}

std::size_t UringEngine::poll(Nanos wait) {
  std::size_t ran = 0;
  std::vector<Op*> refused;
  refused.swap(refused_);
  for (Op* op : refused) {
    finish(*op, fail(Errc::kInvalid, "io: bad file, too many pieces, or unaligned", EINVAL));
    ++ran;
  }
  submit_and_wait(ran == 0 ? wait : Nanos{0});
  // One batch: completions that callbacks cause belong to the next poll.
  std::array<io_uring_cqe*, 256> batch{};
  const unsigned count = io_uring_peek_batch_cqe(&ring_, batch.data(), batch.size());
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t tag = io_uring_cqe_get_data64(batch[i]);
    const int result = batch[i]->res;
    io_uring_cqe_seen(&ring_, batch[i]);
    if (tag == kWakeTag) {
      arm_wake();
    } else if (tag != kCancelTag) {
      ran += complete(*reinterpret_cast<Op*>(tag), result) ? 1U : 0U;
    }
  }
  return ran;
}

}  // namespace

Result<std::unique_ptr<Engine>> make_uring_engine(std::size_t ops_max, std::string* why) {
  auto engine = std::make_unique<UringEngine>(ops_max);
  FOREBAY_TRY_STATUS(engine->start(why));
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace forebay::io

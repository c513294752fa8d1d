#include "io/posix.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/check.h"
#include "io/file_table.h"
#include "io/transfer_rest.h"

namespace forebay::io {
namespace {

bool is_socket_kind(OpKind kind) {
  return kind == OpKind::kAccept || kind == OpKind::kConnect || kind == OpKind::kReceive ||
         kind == OpKind::kSend;
}

// One finished or waiting piece of pool work. The Op itself is touched by the owning core only,
// except for the fields that a transfer reads.
struct Job {
  Op* op = nullptr;
  int descriptor = -1;
  Result<std::size_t> done{std::size_t{0}};
};

Result<std::size_t> transfer(const Op& op, int descriptor) {
  std::size_t done = 0;
  std::vector<iovec> rest(op.buffers.begin(), op.buffers.end());
  const std::size_t total = total_bytes(op.buffers);
  while (done < total) {
    const auto offset = static_cast<off_t>(op.offset_bytes + done);
    const int count = static_cast<int>(rest.size());
    const ssize_t moved = op.kind == OpKind::kRead
                              ? ::preadv(descriptor, rest.data(), count, offset)
                              : ::pwritev(descriptor, rest.data(), count, offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) {
      // A direct read past the last whole sector meets the end of the file as EINVAL.
      if (done > 0 && errno == EINVAL) return done;
      return std::unexpected(error_from_errno(errno, "io"));
    }
    if (moved == 0) break;
    done += static_cast<std::size_t>(moved);
    rest = rest_of(op.buffers, done);
  }
  return done;
}

Result<std::size_t> perform(const Op& op, int descriptor) {
  switch (op.kind) {
    case OpKind::kRead:
    case OpKind::kWrite:
      return transfer(op, descriptor);
    case OpKind::kFlush:
      if (::fdatasync(descriptor) != 0) return std::unexpected(error_from_errno(errno, "flush"));
      return std::size_t{0};
    case OpKind::kDiscard:
      if (::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(op.offset_bytes),
                      static_cast<off_t>(op.length_bytes)) != 0) {
        return std::unexpected(error_from_errno(errno, "discard"));
      }
      return std::size_t{0};
    case OpKind::kNop:
    case OpKind::kAccept:
    case OpKind::kConnect:
    case OpKind::kReceive:
    case OpKind::kSend:
      return std::size_t{0};
  }
  return fail(Errc::kInvalid, "io: unknown kind");
}

class PosixEngine final : public Engine {
 public:
  explicit PosixEngine(PosixOptions options) : options_(options) {}
  ~PosixEngine() override;
  Status start();

  [[nodiscard]] std::string_view name() const override { return "posix"; }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Result<FileId> open(const std::string& path, const OpenOptions& options) override {
    return files_.open(path, options);
  }
  [[nodiscard]] const FileFacts& facts(FileId file) const override { return files_.facts(file); }
  [[nodiscard]] Status allocate(FileId file, std::uint64_t size_bytes) override {
    return files_.allocate(file, size_bytes);
  }
  void close(FileId file) override { files_.close(file); }
  [[nodiscard]] Result<FileId> listen(const void* address, std::uint32_t address_bytes) override;
  [[nodiscard]] Result<FileId> socket(int family) override { return files_.socket(family); }
  [[nodiscard]] Result<std::uint16_t> local_port(FileId file) const override {
    return files_.local_port(file);
  }
  [[nodiscard]] std::string peer_name(FileId file) const override { return files_.peer_name(file); }
  [[nodiscard]] Status submit(Op& op) override;
  [[nodiscard]] std::size_t ops_max() const override { return options_.ops_max; }
  void cancel(Op& op) override;
  std::size_t poll(Nanos wait) override;
  void wake() override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_descriptor_, &one, sizeof one);
  }

 private:
  void work();
  void wait_for_events(Nanos wait);
  bool advance_socket(Op& op);
  void finish(Op& op, Result<std::size_t> done);

  PosixOptions options_;
  SystemClock clock_;
  FileTable files_;
  int wake_descriptor_ = -1;
  std::size_t in_flight_ = 0;
  std::vector<Job> ready_;       // finished without the pool
  std::vector<Op*> socket_ops_;  // waiting for readiness, in order of submission

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_to_do_;
  std::deque<Job> queue_;
  std::vector<Job> finished_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

PosixEngine::~PosixEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  work_to_do_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  if (wake_descriptor_ >= 0) ::close(wake_descriptor_);
}

Status PosixEngine::start() {
  wake_descriptor_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor_ < 0) return std::unexpected(error_from_errno(errno, "eventfd"));
  for (std::size_t i = 0; i < options_.thread_count; ++i) {
    threads_.emplace_back([this] { work(); });
  }
  return {};
}

void PosixEngine::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_to_do_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    Job job = queue_.front();
    queue_.pop_front();
    lock.unlock();
    job.done = perform(*job.op, job.descriptor);
    lock.lock();
    finished_.push_back(job);
    wake();
  }
}

Result<FileId> PosixEngine::listen(const void* address, std::uint32_t address_bytes) {
  FOREBAY_TRY(file, files_.listen(address, address_bytes));
  ::fcntl(files_.descriptor(file), F_SETFL, O_NONBLOCK);
  return file;
}

Status PosixEngine::submit(Op& op) {
  FOREBAY_CHECK(op.state == OpState::kIdle || op.state == OpState::kDone);
  if (in_flight_ >= options_.ops_max) return fail(Errc::kBusy, "submit: the queue is full");
  ++in_flight_;
  op.state = OpState::kInFlight;
  const int descriptor = op.kind == OpKind::kNop ? -1 : files_.descriptor(op.file);
  const bool transfer = op.kind == OpKind::kRead || op.kind == OpKind::kWrite;
  const bool bad_buffers = transfer && (op.buffers.empty() || op.buffers.size() > kIovecsMax);
  if ((op.kind != OpKind::kNop && descriptor < 0) || bad_buffers ||
      (transfer && !all_aligned(op.buffers, op.offset_bytes, files_.facts(op.file).align_bytes))) {
    ready_.push_back(
        {&op, -1, fail(Errc::kInvalid, "io: bad file, too many pieces, or unaligned", EINVAL)});
  } else if (op.kind == OpKind::kNop) {
    ready_.push_back({&op, -1, std::size_t{0}});
  } else if (is_socket_kind(op.kind)) {
    ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
    op.engine_word = 0;
    if (!advance_socket(op)) socket_ops_.push_back(&op);
  } else {
    const std::lock_guard lock(mutex_);
    queue_.push_back({&op, descriptor, std::size_t{0}});
    work_to_do_.notify_one();
  }
  return {};
}

void PosixEngine::cancel(Op& op) {
  if (op.state != OpState::kInFlight) return;
  if (std::erase(socket_ops_, &op) != 0) {
    ready_.push_back({&op, -1, fail(Errc::kCancelled, "cancelled")});
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(queue_, [&op](const Job& job) { return job.op == &op; });
  if (found == queue_.end()) return;  // running or finished: the true outcome comes
  queue_.erase(found);
  ready_.push_back({&op, -1, fail(Errc::kCancelled, "cancelled")});
}

// True when the socket op is over (queued in ready_).
bool PosixEngine::advance_socket(Op& op) {
  const int descriptor = files_.descriptor(op.file);
  ssize_t result = -1;
  msghdr message = message_of(op.buffers);
  switch (op.kind) {
    case OpKind::kAccept:
      result = ::accept4(descriptor, nullptr, nullptr, SOCK_CLOEXEC);
      if (result >= 0) result = files_.adopt_socket(static_cast<int>(result));
      break;
    case OpKind::kConnect:
      if (op.engine_word == 0) {
        op.engine_word = 1;
        result = ::connect(descriptor, static_cast<const sockaddr*>(op.address), op.address_bytes);
        if (result != 0 && errno == EINPROGRESS) return false;
      } else {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
        result = error == 0 ? 0 : -1;
        errno = error;
      }
      break;
    case OpKind::kReceive:
      result = ::recvmsg(descriptor, &message, 0);
      break;
    case OpKind::kSend:
      result = ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
      break;
    case OpKind::kNop:
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kFlush:
    case OpKind::kDiscard:
      break;
  }
  if (result < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  Job job{&op, -1, std::size_t{0}};
  if (result < 0) {
    job.done = std::unexpected(error_from_errno(errno, "socket"));
  } else {
    job.done = static_cast<std::size_t>(result);
  }
  ready_.push_back(job);
  return true;
}

void PosixEngine::wait_for_events(Nanos wait) {
  std::vector<pollfd> polled{{wake_descriptor_, POLLIN, 0}};
  for (const Op* op : socket_ops_) {
    const bool writes = op->kind == OpKind::kSend || op->kind == OpKind::kConnect;
    polled.push_back(
        {files_.descriptor(op->file), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
  }
  const timespec limit{wait.count() / 1'000'000'000, wait.count() % 1'000'000'000};
  if (::ppoll(polled.data(), polled.size(), &limit, nullptr) <= 0) return;
  std::uint64_t drained = 0;
  [[maybe_unused]] const auto size = ::read(wake_descriptor_, &drained, sizeof drained);
  std::vector<Op*> waiting;
  waiting.swap(socket_ops_);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (polled[i + 1].revents == 0 || !advance_socket(*waiting[i])) {
      socket_ops_.push_back(waiting[i]);
    }
  }
}

void PosixEngine::finish(Op& op, Result<std::size_t> done) {
  --in_flight_;
  op.state = OpState::kDone;
  op.done_bytes = done;
  if (op.on_done != nullptr) op.on_done(op);
}

std::size_t PosixEngine::poll(Nanos wait) {
  bool idle = ready_.empty();
  if (idle) {
    const std::lock_guard lock(mutex_);
    idle = finished_.empty();
  }
  wait_for_events(idle ? std::max(wait, Nanos{0}) : Nanos{0});
  std::vector<Job> done;
  done.swap(ready_);
  {
    const std::lock_guard lock(mutex_);
    done.insert(done.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }
  for (const Job& job : done) finish(*job.op, job.done);
  return done.size();
}

}  // namespace

Result<std::unique_ptr<Engine>> make_posix_engine(PosixOptions options) {
  auto engine = std::make_unique<PosixEngine>(options);
  FOREBAY_TRY_STATUS(engine->start());
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace forebay::io

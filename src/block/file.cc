#include "block/file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/bytes.h"
#include "core/intrusive_queue.h"

namespace forebay::block {
namespace {

// A buffered file still gets page-aligned requests, so that a store looks the same on both.
constexpr std::uint32_t kAlignBytesMin = 4096;

class FileDevice final : public Device {
 public:
  FileDevice(io::Loop& loop, io::FileId file, std::string path, bool writable)
      : loop_(loop), file_(file), path_(std::move(path)), writable_(writable) {}
  ~FileDevice() override {
    // What a store abandoned still ends here: the kernel may be writing to its buffers.
    while (in_flight_ > 0) loop_.turn();
    loop_.engine().close(file_);
  }

  Status start() {
    const io::FileFacts& facts = loop_.engine().facts(file_);
    geometry_.align_bytes = std::max(kAlignBytesMin, facts.align_bytes);
    geometry_.size_bytes = round_down(facts.size_bytes, geometry_.align_bytes);
    geometry_.transfer_bytes_max = std::max(
        geometry_.align_bytes,
        static_cast<std::uint32_t>(round_down(facts.transfer_bytes_max, geometry_.align_bytes)));
    geometry_.direct = facts.direct;
    geometry_.read_only = !writable_;
    if (facts.size_bytes == 0) return fail(Errc::kInvalid, "open device: it is empty");
    if (geometry_.size_bytes == 0) {
      return fail(Errc::kInvalid, "open device: it is smaller than one page of 4096 bytes");
    }
    return {};
  }

  [[nodiscard]] const Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("file:{} ({}, align {}, transfer {}{})", path_,
                       geometry_.direct ? "direct" : "buffered", geometry_.align_bytes,
                       format_bytes(geometry_.transfer_bytes_max),
                       loop_.engine().facts(file_).transfer_probed ? "" : ", assumed");
  }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void submit(Request& request) override;
  void cancel(Request& request) override;

 private:
  // An engine operation for one request; recycled.
  struct Slot {
    io::Op op;
    FileDevice* device = nullptr;
    Request* request = nullptr;
  };

  [[nodiscard]] bool start_request(Request& request);
  void on_op_done(Slot& slot);
  void start_waiting();
  static void finish(Request& request, Result<std::size_t> done) {
    request.done_bytes = done;
    request.on_done(request);
  }

  io::Loop& loop_;
  io::FileId file_;
  std::string path_;
  bool writable_;
  Geometry geometry_;
  std::vector<std::unique_ptr<Slot>> slots_;  // all that were ever made; bounded by ops_max
  std::vector<Slot*> free_slots_;
  IntrusiveQueue<Request, &Request::next> waiting_;
  std::size_t in_flight_ = 0;
};

void FileDevice::submit(Request& request) {
  if (const Status checked = check_request(request, geometry_); !checked) {
    finish(request, std::unexpected(checked.error()));
    return;
  }
  const bool changes = request.kind == RequestKind::kWrite || request.kind == RequestKind::kDiscard;
  if (changes && !writable_) {
    finish(request, fail(Errc::kReadOnly, "device: opened for reading only"));
    return;
  }
  request.device_word = nullptr;
  if (!waiting_.empty() || !start_request(request)) waiting_.push_back(request);
}

// False when the engine is full.
bool FileDevice::start_request(Request& request) {
  if (free_slots_.empty()) {
    slots_.push_back(std::make_unique<Slot>());
    free_slots_.push_back(slots_.back().get());
  }
  Slot& slot = *free_slots_.back();
  slot.device = this;
  slot.request = &request;
  slot.op = io::Op{};
  slot.op.kind = op_kind(request.kind);
  slot.op.file = file_;
  slot.op.offset_bytes = request.offset_bytes;
  slot.op.length_bytes = request.length_bytes;
  slot.op.buffers = request.buffers;
  slot.op.context = &slot;
  slot.op.on_done = [](io::Op& op) {
    auto& done = *static_cast<Slot*>(op.context);
    done.device->on_op_done(done);
  };
  if (!loop_.engine().submit(slot.op)) return false;
  free_slots_.pop_back();
  request.device_word = &slot;
  ++in_flight_;
  return true;
}

void FileDevice::on_op_done(Slot& slot) {
  Request& request = *slot.request;
  Result<std::size_t> done = slot.op.done_bytes;
  const bool transfer = request.kind == RequestKind::kRead || request.kind == RequestKind::kWrite;
  // check_request() kept it inside the device, so a short transfer means that the file shrank.
  if (done && transfer && *done != request.length_bytes) {
    done = fail(Errc::kIo, "device: short transfer; the file shrank");
  }
  --in_flight_;
  free_slots_.push_back(&slot);
  start_waiting();
  finish(request, done);
}

void FileDevice::start_waiting() {
  while (!waiting_.empty()) {
    Request& next = waiting_.pop_front();
    if (!start_request(next)) {
      waiting_.push_front(next);
      return;
    }
  }
}

void FileDevice::cancel(Request& request) {
  if (waiting_.remove(request)) {
    finish(request, fail(Errc::kCancelled, "device: cancelled while queued"));
    return;
  }
  auto* slot = static_cast<Slot*>(request.device_word);
  if (slot != nullptr && slot->request == &request) loop_.engine().cancel(slot->op);
}

}  // namespace

Result<std::unique_ptr<Device>> open_file_device(io::Loop& loop, const std::string& path,
                                                 const OpenDevice& options) {
  io::Engine& engine = loop.engine();
  FOREBAY_TRY(file, engine.open(path, {.write = options.write,
                                       .create = options.create,
                                       .direct = true,
                                       .lock = options.write ? io::FileLock::kExclusive
                                                             : io::FileLock::kShared}));
  const io::FileFacts& facts = engine.facts(file);
  Status ready;
  if (options.write && options.size_bytes > facts.size_bytes) {
    ready = engine.allocate(file, options.size_bytes);
  }
  auto device = std::make_unique<FileDevice>(loop, file, path, options.write);
  if (ready) ready = device->start();
  if (!ready) return std::unexpected(ready.error());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace forebay::block

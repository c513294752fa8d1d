#include "block/memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <vector>

#include "core/bytes.h"

namespace forebay::block {
namespace {

class MemoryDevice final : public Device {
 public:
  MemoryDevice(io::Loop& loop, const MemoryOptions& options) : loop_(loop), options_(options) {
    geometry_ = {.size_bytes = options.size_bytes,
                 .align_bytes = options.align_bytes,
                 .transfer_bytes_max = options.transfer_bytes_max,
                 .direct = true};
  }
  [[nodiscard]] const Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("memory({})", format_bytes(geometry_.size_bytes));
  }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void submit(Request& request) override {
    due_.push_back({&request, loop_.now() + options_.latency});
    if (!timer_.armed()) arm();
  }
  void cancel(Request& request) override {
    const auto found =
        std::ranges::find_if(due_, [&](const Due& due) { return due.request == &request; });
    if (found == due_.end()) return;
    due_.erase(found);
    request.done_bytes = fail(Errc::kCancelled, "device: cancelled");
    request.on_done(request);
  }

 private:
  struct Due {
    Request* request;
    Nanos at;
  };
  void arm() {
    loop_.arm(timer_, due_.front().at, [this] { finish_due(); });
  }
  void finish_due() {
    const Nanos now = loop_.now();
    // What callbacks submit waits for the next turn.
    for (std::size_t left = due_.size(); left > 0 && !due_.empty() && due_.front().at <= now;
         --left) {
      Request& request = *due_.front().request;
      due_.pop_front();
      perform(request);
      request.on_done(request);
    }
    if (!due_.empty() && !timer_.armed()) arm();
  }
  void perform(Request& request) {
    if (const Status checked = check_request(request, geometry_); !checked) {
      request.done_bytes = std::unexpected(checked.error());
      return;
    }
    std::uint64_t at = request.offset_bytes;
    for (const iovec& piece : request.buffers) {
      copy(request.kind, at, {static_cast<std::byte*>(piece.iov_base), piece.iov_len});
      at += piece.iov_len;
    }
    if (request.kind == RequestKind::kDiscard) {
      for (std::uint64_t page = 0; page < request.length_bytes; page += geometry_.align_bytes) {
        pages_.erase((request.offset_bytes + page) / geometry_.align_bytes);
      }
    }
    request.done_bytes = static_cast<std::size_t>(request.length_bytes);
  }
  // Requests are aligned, so a piece is whole pages.
  void copy(RequestKind kind, std::uint64_t at, std::span<std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size(); done += geometry_.align_bytes) {
      const std::uint64_t page = (at + done) / geometry_.align_bytes;
      std::byte* here = bytes.data() + done;
      if (kind == RequestKind::kWrite) {
        auto& stored = pages_[page];
        stored.assign(here, here + geometry_.align_bytes);
      } else if (const auto found = pages_.find(page); found != pages_.end()) {
        std::memcpy(here, found->second.data(), geometry_.align_bytes);
      } else {
        std::memset(here, 0, geometry_.align_bytes);
      }
    }
  }

  io::Loop& loop_;
  MemoryOptions options_;
  Geometry geometry_;
  io::Loop::Timer timer_;
  std::deque<Due> due_;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> pages_;
};

}  // namespace

std::unique_ptr<Device> make_memory_device(io::Loop& loop, const MemoryOptions& options) {
  return std::make_unique<MemoryDevice>(loop, options);
}

}  // namespace forebay::block

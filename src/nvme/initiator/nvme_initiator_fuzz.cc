// Any bytes from a controller, in pieces of any size, end in commands that are done exactly once.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/bytes.h"
#include "nvme/initiator/queue.h"
#include "nvme/pdu_encoder.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::size_t kCommands = 6;
constexpr std::size_t kGuard = 64;
constexpr std::byte kUntouched{0xA5};

struct Work {
  std::vector<std::byte> memory = std::vector<std::byte>(8192 + 2 * kGuard, kUntouched);
  iovec piece{memory.data() + kGuard, 8192};
  QueueCommand command;
  int done = 0;
};

class Session {
 public:
  Session(std::span<const std::byte> input, std::uint8_t shape)
      : queue_({.queue_id = 1,
                .entries = 5,
                .capsule_data_bytes_max = (shape & 4) != 0 ? 8192U : 0U,
                .digests = digests_of(shape & 3)}),
        piece_bytes_((shape >> 3) + 1U),
        input_(input) {}

  void run() {
    queue_.start();
    send();
    while (!input_.empty() && queue_.state() < QueueState::kEnding) {
      receive();
      while (queue_.can_submit() && next_ < kCommands) submit(next_++);
      if (next_ == 3 && (piece_bytes_ & 1) != 0) {
        queue_.abandon(work_[0].command, {Errc::kTimedOut, "fuzz: abandoned"});
      }
      send();
    }
    queue_.close({Errc::kCancelled, "fuzz: over"});
    check();
  }

 private:
  void submit(std::size_t index) {
    Work& work = work_[index];
    const bool read = index % 2 == 0;
    work.command.sqe.opcode = read ? 2 : 1;
    work.command.direction = read ? DataDirection::kToHost : DataDirection::kFromHost;
    work.command.data_bytes = 8192;
    work.command.pieces = {&work.piece, 1};
    work.command.context = &work;
    work.command.on_done = [](QueueCommand& c) { ++static_cast<Work*>(c.context)->done; };
    queue_.submit(work.command);
  }
  void receive() {
    std::size_t left = std::min(piece_bytes_, input_.size());
    std::size_t size = 0;
    for (const iovec& place : queue_.receive_place()) {
      const std::size_t here = std::min(left, place.iov_len);
      if (here != 0) std::memcpy(place.iov_base, input_.data(), here);
      input_ = input_.subspan(here);
      left -= here;
      size += here;
    }
    queue_.received(size);
  }
  void send() {
    for (auto pieces = queue_.next_send(); !pieces.empty(); pieces = queue_.next_send()) {
      std::size_t size = 0;
      for (const iovec& piece : pieces) size += piece.iov_len;
      queue_.sent(std::min<std::size_t>(size, 1000));
    }
  }
  void check() const {
    if (queue_.state() != QueueState::kEnded) std::abort();
    for (std::size_t i = 0; i < kCommands; ++i) {
      const Work& work = work_[i];
      if (work.done != (i < next_ ? 1 : 0)) std::abort();
      const auto same = [](std::byte byte) { return byte == kUntouched; };
      const std::span<const std::byte> all(work.memory);
      if (!std::ranges::all_of(all.first(kGuard), same)) std::abort();
      if (!std::ranges::all_of(all.last(kGuard), same)) std::abort();
      if (i % 2 == 1 && !std::ranges::all_of(all, same)) std::abort();  // a write's memory
    }
  }

  Work work_[kCommands];
  Queue queue_;
  std::size_t piece_bytes_;
  std::size_t next_ = 0;
  std::span<const std::byte> input_;
};

}  // namespace
}  // namespace forebay::nvme::initiator

// The first byte: bits 1:0 the digests, bit 2 writes in the capsule, bits 7:3 the size of a piece.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  forebay::nvme::initiator::Session session(std::as_bytes(std::span(data, size)).subspan(1),
                                            data[0]);
  session.run();
  return 0;
}

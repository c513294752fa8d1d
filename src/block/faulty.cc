#include "block/faulty.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::block {
namespace {

using io::FaultKind;
using io::FaultRule;

class Faulty final : public FaultyDevice {
 public:
  Faulty(std::unique_ptr<Device> below, std::uint64_t seed)
      : below_(std::move(below)), rules_(seed) {}
  ~Faulty() override { FOREBAY_CHECK(in_flight_.empty()); }

  [[nodiscard]] const Geometry& geometry() const override { return below_->geometry(); }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("faulty({})", below_->describe());
  }
  [[nodiscard]] io::Loop& loop() override { return below_->loop(); }
  [[nodiscard]] io::FaultRules& faults() override { return rules_; }
  [[nodiscard]] std::size_t stuck_count() const override { return stuck_.size(); }

  void submit(Request& request) override;
  void cancel(Request& request) override;
  void set_vanished(bool vanished) override;
  void release_stuck() override;

 private:
  struct Passing {
    Request request;
    Request* whole = nullptr;
    Faulty* device = nullptr;
    std::optional<FaultRule> fault;
    std::vector<iovec> pieces;
    io::Loop::Timer timer;
    bool below = false;  // the device below has it
  };

  void start(Passing& passing);
  void pass_below(Passing& passing);
  void below_done(Passing& passing);
  void refuse(Passing& passing, Errc code, int os);
  void finish(Passing& passing);
  bool shorten(Passing& passing);
  void flip_bit(const Request& request);

  std::unique_ptr<Device> below_;
  io::FaultRules rules_;
  bool vanished_ = false;
  std::unordered_map<Request*, std::unique_ptr<Passing>> in_flight_;
  std::vector<Passing*> stuck_;
};

void Faulty::submit(Request& request) {
  auto made = std::make_unique<Passing>();
  Passing& passing = *made;
  passing.device = this;
  passing.whole = &request;
  passing.request = request;
  passing.request.next = nullptr;
  passing.request.device_word = nullptr;
  passing.request.context = &passing;
  passing.request.on_done = [](Request& done) {
    auto& entry = *static_cast<Passing*>(done.context);
    entry.device->below_done(entry);
  };
  in_flight_.emplace(&request, std::move(made));
  if (vanished_) {
    refuse(passing, Errc::kGone, ENODEV);
    return;
  }
  passing.fault = rules_.strike(op_kind(request.kind), request.offset_bytes);
  start(passing);
}

void Faulty::start(Passing& passing) {
  if (!passing.fault) {
    pass_below(passing);
    return;
  }
  switch (passing.fault->kind) {
    case FaultKind::kIoError:
    case FaultKind::kShort:  // a device has no ends inside: a short transfer is an error
      refuse(passing, Errc::kIo, EIO);
      return;
    case FaultKind::kFull:
      refuse(passing, Errc::kNoSpace, ENOSPC);
      return;
    case FaultKind::kReadOnly:
      refuse(passing, Errc::kReadOnly, EROFS);
      return;
    case FaultKind::kStuck:
      stuck_.push_back(&passing);
      return;
    case FaultKind::kLatency:
      loop().arm(passing.timer, loop().now() + passing.fault->latency,
                 [this, &passing] { pass_below(passing); });
      return;
    case FaultKind::kLostWrite:
      finish(passing);
      return;
    case FaultKind::kTornWrite:
      if (shorten(passing)) {
        pass_below(passing);
      } else {
        finish(passing);
      }
      return;
    case FaultKind::kMisdirected:
      if (passing.request.offset_bytes + 2 * passing.request.length_bytes <=
          geometry().size_bytes) {
        passing.request.offset_bytes += passing.request.length_bytes;
        pass_below(passing);
      } else {
        finish(passing);
      }
      return;
    case FaultKind::kBitRot:
      pass_below(passing);
      return;
  }
}

// Keeps a prefix of whole pages; false when nothing is left.
bool Faulty::shorten(Passing& passing) {
  const std::uint64_t page = geometry().align_bytes;
  std::uint64_t keep = rules_.rng().below(passing.request.length_bytes / page) * page;
  if (keep == 0) return false;
  passing.request.length_bytes = keep;
  for (const iovec& piece : passing.request.buffers) {
    const std::size_t size = std::min<std::uint64_t>(keep, piece.iov_len);
    if (size != 0) passing.pieces.push_back({piece.iov_base, size});
    keep -= size;
  }
  passing.request.buffers = passing.pieces;
  return true;
}

void Faulty::flip_bit(const Request& request) {
  std::uint64_t bit = rules_.rng().below(request.length_bytes * 8);
  for (const iovec& piece : request.buffers) {
    if (bit < piece.iov_len * 8) {
      static_cast<unsigned char*>(piece.iov_base)[bit / 8] ^=
          static_cast<unsigned char>(1U << (bit % 8));
      return;
    }
    bit -= piece.iov_len * 8;
  }
}

void Faulty::pass_below(Passing& passing) {
  passing.below = true;
  below_->submit(passing.request);
}

void Faulty::below_done(Passing& passing) {
  const bool rotten = passing.fault && passing.fault->kind == FaultKind::kBitRot;
  if (rotten && passing.request.done_bytes && passing.request.length_bytes != 0) {
    flip_bit(passing.request);
  }
  if (!passing.request.done_bytes) {
    passing.whole->done_bytes = passing.request.done_bytes;
    const auto owned = in_flight_.extract(passing.whole);
    owned.mapped()->whole->on_done(*owned.mapped()->whole);
    return;
  }
  finish(passing);
}

// Success as the caller sees it, whatever really happened.
void Faulty::finish(Passing& passing) {
  Request& whole = *passing.whole;
  whole.done_bytes = static_cast<std::size_t>(whole.length_bytes);
  const auto owned = in_flight_.extract(&whole);
  whole.on_done(whole);
}

void Faulty::refuse(Passing& passing, Errc code, int os) {
  Request& whole = *passing.whole;
  whole.done_bytes = std::unexpected(Error(code, "device: injected fault", os));
  const auto owned = in_flight_.extract(&whole);
  whole.on_done(whole);
}

void Faulty::cancel(Request& request) {
  const auto found = in_flight_.find(&request);
  if (found == in_flight_.end()) return;
  Passing& passing = *found->second;
  if (passing.below) {
    below_->cancel(passing.request);
  } else if (passing.timer.armed()) {
    passing.timer.cancel();
    refuse(passing, Errc::kCancelled, ECANCELED);
  }
  // Stuck: like a real device, it keeps what it has.
}

void Faulty::set_vanished(bool vanished) {
  vanished_ = vanished;
  if (vanished) release_stuck();
}

void Faulty::release_stuck() {
  std::vector<Passing*> stuck;
  stuck.swap(stuck_);
  for (Passing* passing : stuck) {
    if (vanished_) {
      refuse(*passing, Errc::kGone, ENODEV);
    } else {
      pass_below(*passing);
    }
  }
}

}  // namespace

std::unique_ptr<FaultyDevice> FaultyDevice::make(std::unique_ptr<Device> below,
                                                 std::uint64_t seed) {
  return std::make_unique<Faulty>(std::move(below), seed);
}

}  // namespace forebay::block

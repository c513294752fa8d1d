#include "cli/disk_run.h"

#include <utility>

namespace forebay::cli {
namespace {

Task<Result<std::size_t>> flush_device(block::Device* device) {
  co_return co_await block::flush(*device);
}

}  // namespace

DiskRun::DiskRun(block::Device& device, block::RequestKind kind, std::uint64_t block_bytes,
                 std::size_t depth)
    : device_(device), arena_(depth, block_bytes), slots_(depth) {
  for (std::size_t i = 0; i < depth; ++i) {
    slots_[i].run = this;
    block::Request& request = slots_[i].request;
    request.kind = kind;
    request.length_bytes = block_bytes;
    request.buffers = arena_.lend(i).pieces;
    request.context = &slots_[i];
    request.on_done = [](block::Request& done) {
      auto& slot = *static_cast<Slot*>(done.context);
      slot.run->on_done(slot);
    };
  }
}

Result<double> DiskRun::run(std::vector<std::uint64_t> offsets) {
  offsets_ = std::move(offsets);
  next_ = 0;
  const block::Request& any = slots_.front().request;
  const Nanos start = device_.loop().now();
  for (Slot& slot : slots_) submit_next(slot);
  while (in_flight_ > 0) device_.loop().turn();
  if (any.kind == block::RequestKind::kWrite) {
    const auto flushed = device_.loop().run(flush_device(&device_));
    if (!flushed) return std::unexpected(flushed.error());
  }
  if (!status_) return std::unexpected(status_.error());
  const double seconds = std::chrono::duration<double>(device_.loop().now() - start).count();
  return static_cast<double>(offsets_.size() * any.length_bytes) / seconds;
}

void DiskRun::submit_next(Slot& slot) {
  if (next_ == offsets_.size() || !status_) return;
  slot.request.offset_bytes = offsets_[next_++];
  slot.submitted = device_.loop().now();
  ++in_flight_;
  device_.submit(slot.request);
}

void DiskRun::on_done(Slot& slot) {
  --in_flight_;
  latency_.record(static_cast<std::uint64_t>((device_.loop().now() - slot.submitted).count()));
  if (!slot.request.done_bytes && status_) {
    status_ = std::unexpected(slot.request.done_bytes.error());
  }
  submit_next(slot);
}

}  // namespace forebay::cli

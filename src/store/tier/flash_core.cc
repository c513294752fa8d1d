#include "store/tier/flash_core.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/bytes.h"

namespace forebay::store {
namespace {

// Large enough for a disk's streaming rate, small enough that the checks of the last one add little
// to a call and that many are in flight.
constexpr std::uint64_t kTransferBytes = kMiB;

std::uint32_t choose_transfer_bytes(const block::Geometry& geometry, const FlashLayout& layout) {
  std::uint64_t bytes = geometry.transfer_bytes_max;
  if (bytes == 0) bytes = std::numeric_limits<std::uint32_t>::max();
  bytes = round_down(std::min(bytes, kTransferBytes), layout.page_bytes);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes, layout.page_bytes));
}

}  // namespace

FlashCore::FlashCore(block::Device& device, FlashOwner& owner, FlashOptions options,
                     FlashLayout layout, Uuid uuid)
    : device_(device),
      owner_(owner),
      options_(std::move(options)),
      layout_(layout),
      uuid_(uuid),
      transfer_bytes_(choose_transfer_bytes(device.geometry(), layout)),
      buffers(layout.page_bytes, transfer_bytes_),
      segments(layout_, load_as<std::uint64_t>(uuid)),
      wear(layout.segment_bytes * layout.segment_count, options_.drive_writes_per_day_max, now()),
      zeroes_(buffers.page()),
      junk_(buffers.page()),
      reads_(device, buffers, options_.read_in_flight_bytes_max, hooks()),
      writes_(device, buffers, options_.write_in_flight_bytes_max, hooks()) {
  std::ranges::fill(zeroes_.bytes(), std::byte{0});
}

TransferQueue::Hooks FlashCore::hooks() {
  TransferQueue::Hooks hooks;
  hooks.before_submit = [this](const block::Request& request) { return before_submit(request); };
  hooks.on_result = [this](const block::Request& request) { on_result(request); };
  hooks.keep = [this] { return std::static_pointer_cast<void>(shared_from_this()); };
  return hooks;
}

Status FlashCore::may_write() {
  health.note_wear(wear.exceeded(now()));
  return health.may_write();
}

Status FlashCore::before_submit(const block::Request& request) {
  if (abandoned_) return fail(Errc::kCancelled, "flash: the tier was destroyed");
  if (!killed_ && request.kind != block::RequestKind::kRead && options_.kill_point) {
    killed_ = options_.kill_point();
  }
  if (killed_) return fail(Errc::kGone, "flash: stopped at a kill point");
  return {};
}

void FlashCore::on_result(const block::Request& request) {
  if (abandoned_) return;
  health.note(request);
  if (!request.done_bytes) {
    if (request.kind == block::RequestKind::kFlush) ++failed_flushes_;
    return;
  }
  if (request.kind == block::RequestKind::kWrite) {
    counters.device_written_bytes += *request.done_bytes;
    wear.add(*request.done_bytes, now());
  } else if (request.kind == block::RequestKind::kRead) {
    counters.read_bytes += *request.done_bytes;
  }
}

}  // namespace forebay::store

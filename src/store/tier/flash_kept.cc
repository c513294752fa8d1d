#include "store/tier/flash_kept.h"

#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "core/log.h"

namespace forebay::store {

std::uint64_t KeptSlots::slot_bytes() const {
  return std::uint64_t{core_.layout().kept_pages} * core_.layout().page_bytes;
}

std::size_t KeptSlots::bytes_max() const {
  return slot_bytes() == 0 ? 0 : slot_bytes() - sizeof(KeptHeader);
}

KeptHeader KeptSlots::header_of(std::uint32_t slot) const {
  KeptHeader header;
  header.slot = slot;
  header.uuid = core_.uuid();
  return header;
}

Task<void> KeptSlots::load(RangeOptions options) {
  if (slot_bytes() == 0) co_return;
  for (std::uint32_t slot = 0; slot < 2; ++slot) co_await look_at(slot, options);
  const auto number_of = [this](std::uint32_t slot) {
    return found_[slot] ? found_[slot]->number : 0;
  };
  const std::uint32_t newer = number_of(1) > number_of(0) ? 1 : 0;
  if (co_await deliver(newer, options)) co_return;
  if (co_await deliver(1 - newer, options)) co_return;
  if (damage_) log_warn("flash: what was kept is not used: {}", to_string(*damage_));
}

Task<void> KeptSlots::look_at(std::uint32_t slot, RangeOptions options) {
  const auto page =
      co_await read_range(&core_, core_.layout().offset_of(core_.layout().kept_page(slot)),
                          core_.buffers.page(), options);
  if (!page) {
    damage_ = page.error();
    co_return;
  }
  const auto header = decode_kept_header(page->bytes(), header_of(slot), slot_bytes());
  if (header) {
    found_[slot] = *header;
  } else if (header.error().code != Errc::kNotFound) {
    damage_ = header.error();
  }
}

Task<bool> KeptSlots::deliver(std::uint32_t slot, RangeOptions options) {
  if (!found_[slot]) co_return false;
  const KeptHeader header = *std::exchange(found_[slot], std::nullopt);
  const auto bytes =
      co_await read_range(&core_, core_.layout().offset_of(core_.layout().kept_page(slot)),
                          core_.buffers.take(sizeof header + header.body_bytes), options);
  if (!bytes) {
    damage_ = bytes.error();
    co_return false;
  }
  const auto body = kept_body(bytes->bytes(), header);
  if (!body) {
    damage_ = body.error();
    co_return false;
  }
  number_ = header.number;
  core_.owner().on_kept(*body);
  co_return true;
}

Task<Status> KeptSlots::keep(std::span<const std::byte> bytes, FlashCall call) {
  if (slot_bytes() == 0)
    co_return fail(Errc::kUnsupported, "flash: formatted without room to keep");
  if (bytes.size() > bytes_max())
    co_return fail(Errc::kNoSpace, "flash: more than a kept slot holds");
  if (number_ + 1 >= kKeptNumberEnd) co_return fail(Errc::kUnsupported, "flash: no number is left");
  if (writing_) co_return fail(Errc::kBusy, "flash: a kept slot is being written");
  FOREBAY_CO_TRY_STATUS(core_.health.device_may_write());
  const auto slot = static_cast<std::uint32_t>((number_ + 1) % 2);
  KeptHeader header = header_of(slot);
  header.number = number_ + 1;
  header.body_bytes = static_cast<std::uint32_t>(bytes.size());
  IoBuffer buffer = core_.buffers.take(sizeof header + bytes.size());
  std::ranges::copy(bytes, buffer.bytes().subspan(sizeof header).begin());
  encode_kept(header, buffer.bytes());
  RangeOptions options;
  options.op_class = block::OpClass::kCheckpoint;
  options.deadline = call.io.deadline;
  options.cancel = call.cancel;
  writing_ = true;
  const auto written = co_await write_range(
      &core_, core_.layout().offset_of(core_.layout().kept_page(slot)), std::move(buffer), options);
  Status status;
  if (written) {
    status = co_await flush_device(&core_, options);
  } else {
    status = std::unexpected(written.error());
  }
  writing_ = false;
  if (status) number_ = header.number;
  co_return status;
}

}  // namespace forebay::store

#include "store/tier/flash.h"

#include <array>
#include <utility>

#include "core/bytes.h"
#include "core/hash.h"
#include "core/log.h"
#include "store/tier/flash_log.h"
#include "store/tier/flash_superblock.h"

namespace forebay::store {
namespace {

// Different for every format of every device, so that no record of an earlier store is believed.
Uuid make_uuid(block::Device& device, const FlashOptions& options) {
  std::array<std::uint64_t, 3> entropy{options.seed, 0, 0};
  if (options.seed == 0) {
    entropy[1] = static_cast<std::uint64_t>(wall_time_ns());
    entropy[2] = static_cast<std::uint64_t>(process_cpu_time().count());
  }
  Sha256 hash;
  hash.update(std::as_bytes(std::span(entropy)));
  hash.update(device.describe());
  const Digest digest = hash.finish();
  Uuid uuid;
  std::copy_n(digest.begin(), uuid.size(), uuid.begin());
  return uuid;
}

struct Opened {
  std::shared_ptr<FlashCore> core;
  bool fresh = false;
  SuperblockDamage damage;
};

Task<Result<Opened>> open_core(block::Device* device, FlashOwner* owner, FlashOptions options,
                               RangeOptions io) {
  FOREBAY_CO_TRY(layout, make_flash_layout(device->geometry(), options.segment_bytes));
  auto core =
      std::make_shared<FlashCore>(*device, *owner, options, layout, make_uuid(*device, options));
  const auto found = co_await find_superblock(core.get(), io);
  Opened opened;
  if (found) {
    opened.core = std::make_shared<FlashCore>(*device, *owner, options, found->facts.layout,
                                              found->facts.uuid);
    opened.damage = found->damage;
    co_return opened;
  }
  if (found.error().code != Errc::kNotFound || !options.format) {
    if (found.error().code != Errc::kNotFound) co_return std::unexpected(found.error());
    co_return fail(Errc::kCorrupt, "flash: no store on this device (and format was not asked for)");
  }
  FOREBAY_CO_TRY_STATUS(co_await format_device(core.get(), io));
  opened.core = std::move(core);
  opened.fresh = true;
  co_return opened;
}

}  // namespace

const char* to_string(FlashMode mode) {
  switch (mode) {
    case FlashMode::kReadWrite:
      return "read_write";
    case FlashMode::kReadOnly:
      return "read_only";
    case FlashMode::kGone:
      return "gone";
  }
  return "unknown";
}

Task<Result<std::unique_ptr<FlashTier>>> FlashTier::open(block::Device* device, FlashOwner* owner,
                                                         FlashOptions options) {
  const Nanos began = device->loop().now();
  RangeOptions io;
  io.op_class = block::OpClass::kDemand;
  if (options.open_within < kForever) io.deadline = began + options.open_within;
  auto opened = co_await open_core(device, owner, std::move(options), io);
  if (!opened) co_return std::unexpected(opened.error());
  auto log = std::make_unique<FlashLog>(std::move(opened->core));
  FlashLog::Start start;
  start.fresh = opened->fresh;
  start.damage = opened->damage;
  start.io = io;
  start.began = began;
  FOREBAY_CO_TRY_STATUS(co_await log->start(start));
  co_return std::unique_ptr<FlashTier>(std::move(log));
}

}  // namespace forebay::store

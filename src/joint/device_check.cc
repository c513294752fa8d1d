#include "joint/device_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "block/device_url.h"
#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "io/loop.h"
#include "store/tier/flash_format.h"

namespace forebay::joint {
namespace {

// Sizes of disks are odd numbers, which nobody writes down to the last byte.
constexpr double kSizeTolerance = 0.01;

Task<Result<std::size_t>> read_at(block::Device* device, std::uint64_t offset, iovec piece) {
  co_return co_await block::read(*device, offset, {&piece, 1});
}

bool holds_store(io::Loop& loop, block::Device& device) {
  const std::size_t bytes = std::max(store::kPageBytesMin, device.geometry().align_bytes);
  const AlignedMemory memory = allocate_aligned(bytes, device.geometry().align_bytes);
  return std::ranges::any_of(store::kSuperblockOffsets, [&](std::uint64_t offset) {
    if (offset + bytes > device.geometry().size_bytes) return false;
    const auto read = loop.run(read_at(&device, offset, {memory.get(), bytes}));
    if (!read || *read < store::kPageBytesMin) return false;
    return store::decode_superblock({memory.get(), store::kPageBytesMin}).has_value();
  });
}

// A store takes all of a disk: `flash_bytes` that says otherwise would be passed over.
void check_size(const Spec& spec, const ArmSpec& arm, const std::string& place,
                std::uint64_t device_bytes, Diagnostics& mistakes) {
  if (arm.flash_bytes == 0) return;
  const double wanted = static_cast<double>(arm.flash_bytes) / spec.run.scale;
  const auto there = static_cast<double>(device_bytes);
  if (std::abs(wanted - there) <= kSizeTolerance * there) return;
  mistakes.add(
      place,
      fmt::format("the store takes all of a disk, and this one has {}; `flash_bytes` of arm "
                  "`{}`{} says {}",
                  format_bytes(device_bytes), arm.name,
                  spec.run.scale == 1 ? "" : fmt::format(" by `scale` {:g}", spec.run.scale),
                  format_bytes(static_cast<std::uint64_t>(wanted))),
      fmt::format("set it to {} for all arms alike",
                  static_cast<std::uint64_t>(std::llround(there * spec.run.scale))));
}

}  // namespace

void check_device(const Spec& spec, const std::string& spec_file, Diagnostics& mistakes) {
  const std::string& url = spec.storage.device;
  if (spec.run.virtual_time || !block::names_disk(url)) return;
  const auto arm = std::ranges::find(spec.arms, "forebay", &ArmSpec::kind);
  if (arm == spec.arms.end()) return;
  const std::string place = fmt::format("{}: [storage] device {}", spec_file, url);
  auto engine = io::make_engine(io::EngineChoice::kAuto);
  if (!engine) return;  // which a cell says
  io::Loop loop(**engine);
  const auto device = block::open_device(loop, url, {.write = true});
  if (!device) {
    mistakes.add(place, to_string(device.error()),
                 fmt::format("`forebay store stat {}` says what helps", url));
    return;
  }
  check_size(spec, *arm, place, (*device)->geometry().size_bytes, mistakes);
  if (holds_store(loop, **device)) return;
  mistakes.add(place, "holds no store, and a disk is never formatted by a run",
               fmt::format("make one with `forebay store put {} KEY FILE --size {}`", url,
                           (*device)->geometry().size_bytes));
}

}  // namespace forebay::joint

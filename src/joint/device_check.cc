#include "joint/device_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "block/device_url.h"
#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "io/loop.h"
#include "store/tier/flash_format.h"

namespace forebay::joint {
namespace {

// Sizes of disks are odd numbers, which nobody writes down to the last byte.
constexpr double kSizeTolerance = 0.01;

// What a disk begins with, where a store would have its superblocks.
struct Beginning {
  std::optional<std::uint64_t> store_bytes;  // that the store there was made with
  bool blank = true;
};

Beginning read_beginning(io::Loop& loop, block::Device& device) {
  Beginning found;
  const std::size_t bytes = std::max(store::kPageBytesMin, device.geometry().align_bytes);
  const AlignedMemory memory = allocate_aligned(bytes, device.geometry().align_bytes);
  const std::span<const std::byte> page(memory.get(), store::kPageBytesMin);
  for (const std::uint64_t offset : store::kSuperblockOffsets) {
    if (offset + bytes > device.geometry().size_bytes) continue;
    const auto read = loop.run(block::read_piece(&device, offset, {memory.get(), bytes}));
    if (!read || *read < page.size()) continue;
    found.blank =
        found.blank && std::ranges::all_of(page, [](std::byte b) { return b == std::byte{}; });
    const auto facts = store::decode_superblock(page);
    if (facts && !found.store_bytes) found.store_bytes = facts->layout.made_bytes();
  }
  return found;
}

// The store has the size that it was made with: `flash_bytes` that says otherwise would be passed
// over.
void check_size(const Spec& spec, const ArmSpec& arm, const std::string& place,
                std::uint64_t store_bytes, Diagnostics& mistakes) {
  if (arm.flash_bytes == 0) return;
  const double wanted = static_cast<double>(arm.flash_bytes) / spec.run.scale;
  const auto there = static_cast<double>(store_bytes);
  if (std::abs(wanted - there) <= kSizeTolerance * there) return;
  mistakes.add(
      place,
      fmt::format("the store on this disk has {}; `flash_bytes` of arm `{}`{} says {}",
                  format_bytes(store_bytes), arm.name,
                  spec.run.scale == 1 ? "" : fmt::format(" by `scale` {:g}", spec.run.scale),
                  format_bytes(static_cast<std::uint64_t>(wanted))),
      fmt::format("set it to {} for all arms alike",
                  static_cast<std::uint64_t>(std::llround(there * spec.run.scale))));
}

void check_store(const Spec& spec, const ArmSpec& arm, const std::string& place,
                 const Beginning& beginning, std::uint64_t device_bytes, Diagnostics& mistakes) {
  const std::string& url = spec.storage.device;
  if (beginning.store_bytes) {
    if (*beginning.store_bytes <= device_bytes) {
      return check_size(spec, arm, place, *beginning.store_bytes, mistakes);
    }
    return mistakes.add(
        place,
        fmt::format("the store on this disk was made with {}, of which {} are there",
                    format_bytes(*beginning.store_bytes), format_bytes(device_bytes)),
        "copy it again from where all of it is");
  }
  mistakes.add(place, "holds no store, and a disk is never formatted by a run",
               beginning.blank
                   ? fmt::format("make one with `forebay store put {} KEY FILE --size {}`", url,
                                 device_bytes)
                   : "it begins with something else: name another disk, or clear this one first");
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
  check_store(spec, *arm, place, read_beginning(loop, **device), (*device)->geometry().size_bytes,
              mistakes);
}

}  // namespace forebay::joint

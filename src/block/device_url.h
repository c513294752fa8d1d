// The text by which a user names a device, and its parser.
//
//   /data/kv.img   ./kv.img   /dev/nvme0n1   file:/data/kv.img
//   stripe:/data/a.img,/data/b.img?unit=1M        (unit: power of two, 64K to 64M; default 1M)
//   nvme+tcp://host/NQN                           (a scheme that was added: block/device_scheme.h)
//
// Pure; bytes from outside: fuzzed by device_url_fuzz.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "block/device_scheme.h"
#include "core/error.h"

namespace forebay::block {

struct DeviceUrl {
  std::vector<std::string> paths;  // one: a file; more: a stripe over them; none: of `scheme`
  const DeviceScheme* scheme = nullptr;
  std::uint64_t stripe_unit_bytes = 0;  // 0: not a stripe
};

inline constexpr std::size_t kStripeDevicesMax = 64;
inline constexpr std::uint64_t kStripeUnitDefault = 1 << 20;

// "nvme+tcp:" of "nvme+tcp://host": what looks like a URL is no path, whatever its kind.
[[nodiscard]] bool has_scheme(std::string_view text);
// Whether the text names a disk, here or elsewhere, and no file that could be made or emptied.
[[nodiscard]] bool names_disk(std::string_view text);

// kInvalid: the text is none of these; the error's literal says which part.
[[nodiscard]] Result<DeviceUrl> parse_device_url(std::string_view text);

}  // namespace forebay::block

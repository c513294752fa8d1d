#include "block/device_url.h"

#include <algorithm>
#include <bit>

#include "block/file.h"
#include "block/stripe.h"
#include "core/bytes.h"

namespace forebay::block {
namespace {

constexpr std::uint64_t kUnitMin = 64 * kKiB;
constexpr std::uint64_t kUnitMax = 64 * kMiB;
constexpr std::string_view kFilePrefix = "file:";
constexpr std::string_view kStripePrefix = "stripe:";

Result<std::uint64_t> parse_unit(std::string_view query) {
  constexpr std::string_view kUnit = "unit=";
  if (!query.starts_with(kUnit)) return fail(Errc::kInvalid, "stripe: only ?unit=SIZE is known");
  const auto unit = parse_bytes(query.substr(kUnit.size()));
  if (!unit || !std::has_single_bit(*unit) || *unit < kUnitMin || *unit > kUnitMax) {
    return fail(Errc::kInvalid, "stripe: unit must be a power of two from 64K to 64M");
  }
  return *unit;
}

}  // namespace

bool has_scheme(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == 0 || end == std::string_view::npos || text.starts_with(kFilePrefix)) return false;
  return std::ranges::all_of(text.substr(0, end), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

bool names_disk(std::string_view text) {
  return has_scheme(text) || text.find("/dev/") != std::string_view::npos;
}

Result<DeviceUrl> parse_device_url(std::string_view text) {
  DeviceUrl url;
  if (text.find('\0') != std::string_view::npos) {
    return fail(Errc::kInvalid, "device: a path holds no zero byte");
  }
  if (has_scheme(text)) {
    url.scheme = find_device_scheme(text);
    if (url.scheme == nullptr) {
      return fail(Errc::kInvalid, "device: no such kind of URL; file:, stripe:, nvme+tcp:// are");
    }
    FOREBAY_TRY_STATUS(url.scheme->check(text));
    return url;
  }
  if (!text.starts_with(kStripePrefix)) {
    if (text.starts_with(kFilePrefix)) text.remove_prefix(kFilePrefix.size());
    if (text.empty()) return fail(Errc::kInvalid, "device: the path is empty");
    url.paths.emplace_back(text);
    return url;
  }
  text.remove_prefix(kStripePrefix.size());
  url.stripe_unit_bytes = kStripeUnitDefault;
  if (const std::size_t mark = text.rfind('?'); mark != std::string_view::npos) {
    FOREBAY_TRY(unit, parse_unit(text.substr(mark + 1)));
    url.stripe_unit_bytes = unit;
    text = text.substr(0, mark);
  }
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view path = text.substr(0, comma);
    if (path.empty()) return fail(Errc::kInvalid, "stripe: a path is empty");
    if (has_scheme(path)) return fail(Errc::kInvalid, "stripe: of files and disks, not of URLs");
    if (std::ranges::count(url.paths, path) != 0) {
      return fail(Errc::kInvalid, "stripe: a path stands twice");
    }
    url.paths.emplace_back(path);
    if (url.paths.size() > kStripeDevicesMax) {
      return fail(Errc::kInvalid, "stripe: at most 64 devices");
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (url.paths.size() < 2) return fail(Errc::kInvalid, "stripe: needs two devices or more");
  return url;
}

Result<std::unique_ptr<Device>> open_device(io::Loop& loop, const std::string& url,
                                            const OpenDevice& options) {
  FOREBAY_TRY(parsed, parse_device_url(url));
  if (parsed.scheme != nullptr) return parsed.scheme->open(loop, url, options);
  if (parsed.paths.size() == 1) return open_file_device(loop, parsed.paths[0], options);
  OpenDevice part = options;
  // Every part holds the same share, in whole units.
  part.size_bytes =
      round_up(divide_up(options.size_bytes, parsed.paths.size()), parsed.stripe_unit_bytes);
  std::vector<std::unique_ptr<Device>> parts;
  for (const std::string& path : parsed.paths) {
    FOREBAY_TRY(device, open_file_device(loop, path, part));
    parts.push_back(std::move(device));
  }
  return make_stripe(std::move(parts), parsed.stripe_unit_bytes);
}

}  // namespace forebay::block

#include "block/device_scheme.h"

#include <algorithm>
#include <array>

#include "core/check.h"

namespace forebay::block {
namespace {

constexpr std::size_t kSchemesMax = 16;

struct SchemeTable {
  std::array<DeviceScheme, kSchemesMax> rows;
  std::size_t count = 0;
};

SchemeTable& table() {
  static SchemeTable schemes;
  return schemes;
}

}  // namespace

void add_device_scheme(const DeviceScheme& scheme) {
  if (find_device_scheme(scheme.prefix) != nullptr) return;
  FOREBAY_CHECK_LT(table().count, kSchemesMax);
  table().rows[table().count++] = scheme;
}

const DeviceScheme* find_device_scheme(std::string_view url) {
  for (std::size_t i = 0; i < table().count; ++i) {
    if (url.starts_with(table().rows[i].prefix)) return &table().rows[i];
  }
  return nullptr;
}

}  // namespace forebay::block

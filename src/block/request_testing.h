// For tests: aligned memory and requests as tasks.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "block/device.h"

namespace forebay::block {

inline constexpr std::size_t kPage = 4096;

struct FreeDeleter {
  void operator()(std::byte* p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, FreeDeleter>;
inline Memory pages(std::size_t count) {
  auto* raw = static_cast<std::byte*>(std::aligned_alloc(kPage, count * kPage));
  std::memset(raw, 0, count * kPage);
  return Memory(raw);
}

inline Task<Result<std::size_t>> do_read(Device* device, std::uint64_t offset,
                                         std::vector<iovec> pieces) {
  co_return co_await read(*device, offset, pieces);
}
inline Task<Result<std::size_t>> do_write(Device* device, std::uint64_t offset,
                                          std::vector<iovec> pieces) {
  co_return co_await write(*device, offset, pieces);
}
inline Task<Result<std::size_t>> do_flush(Device* device) { co_return co_await flush(*device); }

}  // namespace forebay::block

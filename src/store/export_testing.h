// For tests of exports: a whole file in memory as the source that an ExportReader reads.
#pragma once

#include <algorithm>
#include <span>

#include "store/export_stream.h"

namespace forebay::store {

// `file` must outlive the source.
[[nodiscard]] inline ExportReader::Source source_of(std::span<const std::byte> file) {
  return [left = file](std::span<std::byte> bytes) mutable -> Result<std::size_t> {
    const std::size_t count = std::min(bytes.size(), left.size());
    std::copy_n(left.begin(), count, bytes.begin());
    left = left.subspan(count);
    return count;
  };
}

}  // namespace forebay::store

// Where a text differs from what was written, when only the sum of each line is known: lines that
// were changed, removed or added, so that one removed row is one line and not all that follow it.
//
// Pure; threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::report {

enum class LineChangeKind : std::uint8_t { kChanged, kRemoved, kAdded };

struct LineChange {
  LineChangeKind kind;
  std::size_t at;     // index of the first line: as written for kRemoved, else as it is now
  std::size_t count;  // lines in a row
};

// At most `changes_max`, in order.
[[nodiscard]] std::vector<LineChange> line_changes(std::span<const std::uint32_t> written,
                                                   std::span<const std::uint32_t> now,
                                                   std::size_t changes_max);

}  // namespace forebay::report

// What the `open` of a line format is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "workload/formats.h"
#include "workload/row_reader.h"

namespace forebay::workload {

[[nodiscard]] std::unique_ptr<TraceReader> open_rows(TraceInput input, std::string_view format,
                                                     std::unique_ptr<RowParser> parser,
                                                     const ReadOptions& options,
                                                     Diagnostics& diagnostics);

// A format whose stamps may be rounded.
struct RoundedRows {
  std::string_view format;
  std::function<std::unique_ptr<RowParser>()> make_parser;
  std::int64_t interval_ns = 0;  // 0: found from the first requests; see spread_stamps.h
};
[[nodiscard]] Result<std::unique_ptr<TraceReader>> open_rounded_rows(TraceInput input,
                                                                     const RoundedRows& rows,
                                                                     const ReadOptions& options,
                                                                     Diagnostics& diagnostics);

}  // namespace forebay::workload

// The table of trace formats: the only place that knows them all.
//
// A new format is a file pair under format/ that defines a TraceFormat, and a line in formats.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/diagnostics.h"
#include "core/error.h"
#include "workload/byte_source.h"
#include "workload/reader.h"
#include "workload/writer.h"

namespace forebay::workload {

// What recognition goes by.
struct TraceHead {
  std::string_view bytes;  // the first kHeadBytes, decompressed; empty for a folder
  bool is_folder = false;

  [[nodiscard]] bool has(std::string_view text) const {
    return bytes.find(text) != std::string_view::npos;
  }
};
inline constexpr std::size_t kHeadBytes = std::size_t{256} << 10;

struct TraceInput {
  std::string path;                   // as the user named it
  std::unique_ptr<PeekSource> bytes;  // null for a folder
};

using OpenTrace = Result<std::unique_ptr<TraceReader>> (*)(TraceInput input,
                                                           const ReadOptions& options,
                                                           Diagnostics& diagnostics);
using CreateTrace = std::unique_ptr<TraceWriter> (*)(std::unique_ptr<ByteSink> sink,
                                                     const WriteOptions& options);

struct TraceFormat {
  std::string_view name;
  std::string_view summary;
  bool (*matches)(const TraceHead& head);
  OpenTrace open;
  CreateTrace create = nullptr;  // null: read only
  bool takes_folders = false;
};

[[nodiscard]] std::span<const TraceFormat* const> all_trace_formats();
// Null when there is none of that name.
[[nodiscard]] const TraceFormat* find_trace_format(std::string_view name);

// For tests and fuzzers: the same as open_trace, over bytes in memory.
[[nodiscard]] Result<std::unique_ptr<TraceReader>> open_trace_bytes(std::string bytes,
                                                                    const ReadOptions& options,
                                                                    Diagnostics& diagnostics);

}  // namespace forebay::workload

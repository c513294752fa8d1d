// Writes Requests as a trace file, in the formats that can be written (ours and Mooncake's).
//
// Ownership: the writer owns its sink. Threads: one owner. Blocking: on the file. Errors: kInvalid
// for a request that the format cannot hold (its explanation is in `why`), kIo and kNoSpace from
// the file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/error.h"
#include "workload/request.h"

namespace forebay::workload {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  [[nodiscard]] virtual Status write(std::string_view bytes) = 0;
  // Nothing may be written after it. Until it returned, the file may be incomplete.
  [[nodiscard]] virtual Status close() = 0;
};

inline constexpr std::string_view kStandardOutput = "-";

[[nodiscard]] Result<std::unique_ptr<ByteSink>> create_file(const std::string& path);
// One zstd frame around what is written.
[[nodiscard]] std::unique_ptr<ByteSink> zstd_sink(std::unique_ptr<ByteSink> inner);
// Appends to `target`, which outlives the sink.
[[nodiscard]] std::unique_ptr<ByteSink> memory_sink(std::string* target);

struct WriteOptions {
  std::string origin;        // one line about where the requests come from; goes into our header
  std::string written_path;  // the file that is written; mistakes name `path`; empty: that one
};

class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  // Requests come in the order of their index. `why` is set when the answer is kInvalid.
  [[nodiscard]] virtual Status write(const Request& request, std::string& why) = 0;
  [[nodiscard]] virtual Status close() = 0;
  // What the format could not say, in sentences for people.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

[[nodiscard]] std::vector<std::string_view> writable_trace_format_names();

// A `path` that ends in .zst is packed so. Fails after noting a Diagnostic.
[[nodiscard]] Result<std::unique_ptr<TraceWriter>> create_trace(const std::string& path,
                                                                std::string_view format,
                                                                const WriteOptions& options,
                                                                Diagnostics& diagnostics);

}  // namespace forebay::workload

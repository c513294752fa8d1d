// Reads any supported trace as a stream of Requests.
//
// Formats: docs/formats/foreign-traces.md (public ones) and docs/formats/trace.md (ours). Each is
// one file pair under format/ and one line of the table in formats.cc; a file is recognised by its
// content, or the user names its format. `.zst` or `.gz` around any of them, and `.tar.zst` where
// a trace is a folder, are read as they are.
//
// Units: nanoseconds from the trace's first moment, tokens. Ownership: the Diagnostics must outlive
// the reader. Threads: one owner. Blocking: next() reads the file. Memory: one line (or one session
// of a format that keeps a session in one document) and what order needs, all bounded by
// ReadOptions. Errors: a malformed line is a Diagnostic with file:line and a hint, is counted and
// skipped; an Error means that the rest cannot be read (kIo, kCorrupt for a broken archive).
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

struct ReadOptions {
  std::string format;      // a name of trace_format_names(); "": recognise it
  std::uint64_t seed = 1;  // of every draw below: same seed, same requests
  // Stamps that a trace rounded (Mooncake: to 3 s) are spread inside their interval, in order.
  bool spread_stamps = true;
  // Tokens per block id. 0: the format's own (Mooncake 512, Weka as the file says, Bailian 16), and
  // 64 where ids are made from prefix lengths (TraceLab).
  std::uint32_t block_tokens = 0;
  // Sessions that were recorded without a start begin after exponential gaps of this mean.
  std::int64_t session_gap_ns_mean = 30'000'000'000;
  std::uint64_t line_bytes_max = std::uint64_t{16} << 20;
  std::uint64_t document_bytes_max = std::uint64_t{256} << 20;  // one session in one JSON file
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;
  // Fills `request` (its memory is reused) and returns true, or false at the end.
  [[nodiscard]] virtual Result<bool> next(Request& request) = 0;
  [[nodiscard]] virtual std::string_view format() const = 0;
  // What the reader decided or noticed, in sentences for people: stamps that it spread, order that
  // it found broken, how many lines it skipped. Complete once next() returned false.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
  [[nodiscard]] virtual std::uint64_t skipped_count() const = 0;
};

// Every name that ReadOptions::format takes.
[[nodiscard]] std::span<const std::string_view> trace_format_names();

// A file, or a folder for formats of one file a session. Fails after noting a Diagnostic that says
// what to do.
[[nodiscard]] Result<std::unique_ptr<TraceReader>> open_trace(const std::string& path,
                                                              const ReadOptions& options,
                                                              Diagnostics& diagnostics);

// A trace in memory, in order of arrival: `index` is the position in `requests`, `parent` follows.
struct Trace {
  std::string format;
  std::vector<Request> requests;
  std::vector<std::string> notes;
  std::uint64_t skipped_count = 0;
};

// `request_count_max` and `block_id_count_max` bound the memory; what is beyond is left out, with a
// note.
struct ReadLimits {
  std::uint64_t request_count_max = std::uint64_t{1} << 24;
  std::uint64_t block_id_count_max = std::uint64_t{1} << 28;
};
[[nodiscard]] Result<Trace> read_all(TraceReader& reader, const ReadLimits& limits = {});
[[nodiscard]] Result<Trace> read_all(const std::string& path, const ReadOptions& options,
                                     Diagnostics& diagnostics);

}  // namespace forebay::workload

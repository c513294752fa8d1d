// The frame around every format of one request a line: lines in, Requests out, mistakes noted.
//
// A format supplies a RowParser; RowReader counts, numbers, skips, watches the order of time and
// writes the diagnostics, so that all formats do that alike. Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "workload/line_reader.h"
#include "workload/reader.h"

namespace forebay::workload {

// Above these a number is a mistake of the file, not a request: keeps sums far from overflow.
inline constexpr std::uint64_t kTokensMax = std::uint64_t{1} << 26;
inline constexpr std::uint32_t kBlockTokensMin = 4;  // so a request has at most 2^24 blocks
inline constexpr std::int64_t kTimeNsMax = std::int64_t{10} * 365 * 86'400 * 1'000'000'000;

// What is wrong with a line, and what to do about it.
struct Mistake {
  std::string message;
  std::string hint;
};

enum class Row { kRequest, kNothing, kMalformed };

class RowParser {
 public:
  virtual ~RowParser() = default;
  // `request` comes with index and line set and everything else at its default (vectors empty).
  // kNothing: a header or a comment. kMalformed: `mistake` says why.
  [[nodiscard]] virtual Row parse(std::string_view text, Request& request, Mistake& mistake) = 0;
  virtual void add_notes(std::vector<std::string>&) const {}
};

struct RowInput {
  std::string path;  // for messages
  std::unique_ptr<ByteSource> bytes;
  std::string_view format;
};

class RowReader final : public TraceReader {
 public:
  RowReader(RowInput input, std::unique_ptr<RowParser> parser, const ReadOptions& options,
            Diagnostics& diagnostics);
  [[nodiscard]] Result<bool> next(Request& request) override;
  [[nodiscard]] std::string_view format() const override { return format_; }
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] std::uint64_t skipped_count() const override { return skipped_count_; }

 private:
  [[nodiscard]] Row parse(const Line& line, Request& request);
  void note_order(const Request& request);

  std::string path_;
  std::string_view format_;
  LineReader lines_;
  std::unique_ptr<RowParser> parser_;
  std::uint64_t line_bytes_max_;
  Diagnostics& diagnostics_;
  std::uint64_t request_count_ = 0;
  std::uint64_t skipped_count_ = 0;
  std::uint64_t backward_count_ = 0;  // requests that arrive before the one above them
  std::int64_t last_arrival_ns_ = 0;
};

// Back to the state that a RowParser is promised, keeping the memory.
void clear_request(Request& request);

// "3 of 12,031 lines were malformed and skipped"; "" when none.
[[nodiscard]] std::string skipped_note(std::uint64_t skipped, std::uint64_t kept);

}  // namespace forebay::workload

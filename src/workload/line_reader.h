// Lines of a text file, one at a time, of bounded length.
//
// Accepts "\n" and "\r\n", a UTF-8 byte order mark, and a last line without an end. Ownership: a
// line's text is valid until the next call; kPaddingBytes more are readable behind it, so that a
// vectorised parser needs no copy. Threads: one owner. Memory: two lines of the longest allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "workload/byte_source.h"

namespace forebay::workload {

struct Line {
  std::uint64_t number = 0;  // from 1
  std::string_view text;     // without its end; empty when too_long
  bool too_long = false;
};

class LineReader {
 public:
  static constexpr std::size_t kPaddingBytes = 64;

  LineReader(std::unique_ptr<ByteSource> source, std::uint64_t line_bytes_max);
  // False at the end.
  [[nodiscard]] Result<bool> next(Line& line);

 private:
  [[nodiscard]] Result<bool> fill();

  std::unique_ptr<ByteSource> source_;
  std::uint64_t line_bytes_max_;
  std::string buffer_;   // [at_, end_) is unread; kPaddingBytes beyond end_ exist
  std::size_t at_ = 0;   // start of the current line
  std::size_t end_ = 0;  // end of what was read
  std::uint64_t number_ = 0;
  bool at_end_ = false;
};

}  // namespace forebay::workload

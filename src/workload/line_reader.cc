#include "workload/line_reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace forebay::workload {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source, std::uint64_t line_bytes_max)
    : source_(std::move(source)), line_bytes_max_(line_bytes_max) {}

// Reads more behind what is unread. False at the end of the source.
Result<bool> LineReader::fill() {
  if (at_end_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  if (buffer_.size() < end_ + kReadBytes + kPaddingBytes) {
    buffer_.resize(std::max(buffer_.size() * 2, end_ + kReadBytes + kPaddingBytes));
  }
  FOREBAY_TRY(got, source_->read(std::span(buffer_).subspan(end_, kReadBytes)));
  end_ += got;
  at_end_ = got == 0;
  return !at_end_;
}

Result<bool> LineReader::next(Line& line) {
  line = {.number = number_ + 1, .text = {}, .too_long = false};
  std::size_t searched = 0;
  while (true) {
    const std::string_view unread(buffer_.data() + at_, end_ - at_);
    const std::size_t length = unread.find('\n', searched);
    const bool ended = length != std::string_view::npos;
    searched = ended ? length : unread.size();
    line.too_long = line.too_long || searched > line_bytes_max_;
    if (ended) {
      line.text = unread.substr(0, length);
      at_ += length + 1;
      break;
    }
    if (line.too_long) {  // drop what is known to be too much, keep looking for the end
      at_ = end_;
      searched = 0;
    }
    FOREBAY_TRY(more, fill());
    if (more) continue;
    if (at_ == end_ && !line.too_long) return false;
    line.text = std::string_view(buffer_.data() + at_, end_ - at_);
    at_ = end_;
    break;
  }
  ++number_;
  if (line.too_long) line.text = {};
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  if (number_ == 1 && line.text.starts_with(kByteOrderMark)) {
    line.text.remove_prefix(kByteOrderMark.size());
  }
  return true;
}

}  // namespace forebay::workload

#include "report/column.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace forebay::report {
namespace {

constexpr std::array<std::string_view, 3> kRequestStates{"done", "failed", "unfinished"};
constexpr std::array<std::string_view, 3> kCellStates{"complete", "partial", "failed"};
constexpr std::array<std::string_view, 3> kTiers{"none", "dram", "flash"};
constexpr std::array<std::string_view, 2> kDirections{"read", "write"};

}  // namespace

std::span<const std::string_view> words_of(Words words, std::span<const std::string_view> arms) {
  switch (words) {
    case Words::kNumber:
      return {};
    case Words::kArm:
      return arms;
    case Words::kRequestState:
      return kRequestStates;
    case Words::kCellState:
      return kCellStates;
    case Words::kTier:
      return kTiers;
    case Words::kDirection:
      return kDirections;
  }
  return {};
}

namespace detail {

void append_value(std::string& text, std::int64_t value, std::span<const std::string_view> words) {
  if (value >= 0 && static_cast<std::size_t>(value) < words.size()) {
    text += words[static_cast<std::size_t>(value)];
    return;
  }
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

std::optional<std::int64_t> parse_value(std::string_view text,
                                        std::span<const std::string_view> words) {
  if (!words.empty()) {
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) return std::nullopt;
    return found - words.begin();
  }
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || text.empty()) return std::nullopt;
  if (value > kValueMax || value < -kValueMax) return std::nullopt;
  return value;
}

bool CsvLines::next() {
  const std::size_t end = rest_.find('\n');
  if (end == std::string_view::npos) return false;
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  cells_ = line_;
  ++number_;
  return true;
}

std::optional<std::string_view> CsvLines::cell() {
  if (!cells_) return std::nullopt;
  const std::size_t comma = cells_->find(',');
  const std::string_view cell = cells_->substr(0, comma);
  if (comma == std::string_view::npos) {
    cells_.reset();
  } else {
    cells_->remove_prefix(comma + 1);
  }
  return cell;
}

}  // namespace detail
}  // namespace forebay::report

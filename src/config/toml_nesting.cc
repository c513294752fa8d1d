#include "config/toml_nesting.h"

#include <algorithm>

namespace forebay::config {
namespace {

class NestingScan {
 public:
  explicit NestingScan(std::string_view text) : text_(text) {}

  std::uint64_t run() {
    while (at_ < text_.size()) {
      step(text_[at_]);
      if (std::max(brackets_, dots_) > kTomlLevelsMax) return line_;
    }
    return 0;
  }

 private:
  void step(char c) {
    if (c == '"' || c == '\'') return pass_string(c);
    if (c == '#') return pass_comment();
    ++at_;
    switch (c) {
      case '.':
        ++dots_;
        return;
      case '[':
      case '{':
        ++brackets_;
        break;
      case ']':
      case '}':
        if (brackets_ > 0) --brackets_;
        break;
      case '\n':
        ++line_;
        break;
      case '=':
      case ',':
        break;
      default:
        return;
    }
    dots_ = 0;  // a key ends, or begins
  }

  void pass_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void pass_string(char quote) {
    const bool long_one = quotes_at(at_, quote) >= 3;
    at_ += long_one ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        at_ += 2;
      } else if (c == quote && !long_one) {
        ++at_;
        return;
      } else if (c == quote && quotes_at(at_, quote) >= 3) {
        // Up to two more quotes are the text's own.
        at_ += std::min<std::size_t>(quotes_at(at_, quote), 5);
        return;
      } else if (c == '\n' && !long_one) {
        return;  // not TOML, and the parser stops here
      } else {
        if (c == '\n') ++line_;
        ++at_;
      }
    }
  }

  [[nodiscard]] std::size_t quotes_at(std::size_t at, char quote) const {
    const std::size_t end = std::min(text_.find_first_not_of(quote, at), text_.size());
    return end - at;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  std::size_t brackets_ = 0;
  std::size_t dots_ = 0;
};

}  // namespace

std::uint64_t line_nested_too_deep(std::string_view toml) { return NestingScan(toml).run(); }

}  // namespace forebay::config

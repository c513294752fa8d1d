// SHA256SUMS as it is found: what it says of each file, and where it is not as a run writes it.
//
// A run writes "<64 digits>  <file>" a line, each file once, in one order, every line with a
// newline. What a reader can still understand it takes (lines that were moved, CR LF, a lost last
// newline), so that the other files are held against it all the same; but it is named, since no
// sum stands for this file itself. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::report {

inline constexpr std::string_view kSumsFile = "SHA256SUMS";

// A line with its newline.
[[nodiscard]] std::string sum_line(std::string_view file, std::string_view text);

// What became of a text whose sum does not hold, where that is a matter of its line ends alone.
enum class LineEnds : std::uint8_t { kOther, kConverted, kLastNewlineLost };

class Sums {
 public:
  // `files`: those that a run writes lines of, in their order; they must outlive this.
  Sums(std::string_view text, std::span<const std::string_view> files);
  [[nodiscard]] bool name(std::string_view file) const { return by_file_.contains(file); }
  [[nodiscard]] bool hold(std::string_view file, std::string_view text) const;
  [[nodiscard]] LineEnds line_ends(std::string_view file, std::string_view text) const;
  // Where the file is not as a run writes it, one sentence each.
  [[nodiscard]] const std::vector<std::string>& strange() const { return strange_; }

 private:
  void add(std::string_view line, std::size_t number);
  void check_order();
  void check_names();

  struct Entry {
    std::string sum;
    std::size_t line;
  };
  std::span<const std::string_view> files_;
  std::map<std::string_view, Entry> by_file_;  // keys are of files_
  std::vector<std::string_view> order_;        // as the lines stand
  std::vector<std::string> strange_;
};

}  // namespace forebay::report

// User mistakes: collected, shown together, each with its place and a hint. Exit code 2.
//
//   joint.toml:12: unknown key `blok_size` in [store]
//     hint: did you mean `block_size`?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

struct Diagnostic {
  std::string place;    // "joint.toml:12", "--block-size"
  std::string message;  // what is wrong, naming the thing
  std::string hint;     // what to do; may be empty
};

class Diagnostics {
 public:
  void add(std::string place, std::string message, std::string hint = {});
  // "file:line" as the place; line 0 means the whole file.
  void add_at(std::string_view file, std::uint64_t line, std::string message,
              std::string hint = {});

  [[nodiscard]] bool empty() const { return count_ == 0; }
  // All that were added, kept or not.
  [[nodiscard]] std::size_t count() const { return count_; }
  // The first kKeptMax of them: bad input must not grow memory without bound.
  [[nodiscard]] std::span<const Diagnostic> kept() const { return kept_; }
  // Printable (core/printable.h). One or two lines each, and "... and N more" at the end where some
  // were not kept.
  [[nodiscard]] std::string text() const;

  static constexpr std::size_t kKeptMax = 100;

 private:
  std::vector<Diagnostic> kept_;
  std::size_t count_ = 0;
};

// The candidate closest to `word` by edit distance, or "" when none is near (distance <= 1/3 of
// it).
[[nodiscard]] std::string_view nearest_word(std::string_view word,
                                            std::span<const std::string_view> candidates);

// "did you mean `x`?", or a list of what is allowed when nothing is near.
[[nodiscard]] std::string suggest(std::string_view word,
                                  std::span<const std::string_view> candidates);

}  // namespace forebay

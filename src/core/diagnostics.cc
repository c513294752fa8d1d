#include "core/diagnostics.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/printable.h"

namespace forebay {
namespace {

// Letters added, left out, changed, or two neighbours swapped: each is one slip of the hand.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);  // the row of a's letter before the last one
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

constexpr std::size_t kBeginningMin = 3;

// What was cut short is meant whole: `qwen3-30b` is no slip for `qwen3-32b`.
std::string_view shortest_beginning(std::string_view word,
                                    std::span<const std::string_view> candidates) {
  std::string_view best;
  if (word.size() < kBeginningMin) return best;
  for (const std::string_view candidate : candidates) {
    const bool shorter = best.empty() || candidate.size() < best.size();
    if (candidate.starts_with(word) && shorter) best = candidate;
  }
  return best;
}

}  // namespace

void Diagnostics::add(std::string place, std::string message, std::string hint) {
  ++count_;
  if (kept_.size() < kKeptMax) {
    kept_.push_back({std::move(place), std::move(message), std::move(hint)});
  }
}

void Diagnostics::add_at(std::string_view file, std::uint64_t line, std::string message,
                         std::string hint) {
  add(line == 0 ? std::string(file) : fmt::format("{}:{}", file, line), std::move(message),
      std::move(hint));
}

std::string Diagnostics::text() const {
  std::string text;
  for (const Diagnostic& item : kept_) {
    text += fmt::format("{}: {}\n", printable(item.place), printable(item.message));
    if (!item.hint.empty()) text += fmt::format("  hint: {}\n", printable(item.hint));
  }
  if (count_ > kept_.size()) text += fmt::format("... and {} more\n", count_ - kept_.size());
  return text;
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best = shortest_beginning(word, candidates);
  if (!best.empty()) return best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggest(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest_word(word, candidates);
  if (!near.empty()) return fmt::format("did you mean `{}`?", near);
  return fmt::format("one of: {}", fmt::join(candidates, ", "));
}

}  // namespace forebay

#include "report/line_changes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace forebay::report {
namespace {

// Finds where a line stands next, at or behind an index.
class LineFinder {
 public:
  explicit LineFinder(std::span<const std::uint32_t> lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) places_[lines[i]].push_back(i);
  }
  [[nodiscard]] std::optional<std::size_t> next(std::uint32_t line, std::size_t from) const {
    const auto found = places_.find(line);
    if (found == places_.end()) return std::nullopt;
    const auto place = std::ranges::lower_bound(found->second, from);
    return place == found->second.end() ? std::nullopt : std::optional(*place);
  }

 private:
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> places_;
};

class Walk {
 public:
  Walk(std::span<const std::uint32_t> written, std::span<const std::uint32_t> now,
       std::size_t changes_max)
      : written_(written), now_(now), changes_max_(changes_max) {}

  std::vector<LineChange> run() {
    pass_equal();
    if (i_ == written_.size() && j_ == now_.size()) return {};
    const LineFinder in_written(written_);
    const LineFinder in_now(now_);
    while ((i_ < written_.size() || j_ < now_.size()) && changes_.size() < changes_max_) {
      step(in_written, in_now);
      pass_equal();
    }
    return std::move(changes_);
  }

 private:
  void pass_equal() {
    while (i_ < written_.size() && j_ < now_.size() && written_[i_] == now_[j_]) ++i_, ++j_;
  }

  // The lines here differ. Whatever needs the fewest lines to agree again is what happened.
  void step(const LineFinder& in_written, const LineFinder& in_now) {
    if (i_ == written_.size()) return added(now_.size());
    if (j_ == now_.size()) return removed(written_.size());
    if (agree_behind()) return changed();
    const auto back_in_written = in_written.next(now_[j_], i_);
    const auto back_in_now = in_now.next(written_[i_], j_);
    const std::size_t gone = back_in_written ? *back_in_written - i_ : written_.size();
    const std::size_t more = back_in_now ? *back_in_now - j_ : now_.size();
    if (back_in_written && gone <= more) return removed(*back_in_written);
    if (back_in_now) return added(*back_in_now);
    changed();
  }

  // As many lines are left of both, and the next agree.
  [[nodiscard]] bool agree_behind() const {
    if (written_.size() - i_ != now_.size() - j_) return false;
    return i_ + 1 == written_.size() || written_[i_ + 1] == now_[j_ + 1];
  }

  void changed() {
    changes_.push_back({LineChangeKind::kChanged, j_, 1});
    ++i_;
    ++j_;
  }
  void removed(std::size_t to) {
    changes_.push_back({LineChangeKind::kRemoved, i_, to - i_});
    i_ = to;
  }
  void added(std::size_t to) {
    changes_.push_back({LineChangeKind::kAdded, j_, to - j_});
    j_ = to;
  }

  std::span<const std::uint32_t> written_;
  std::span<const std::uint32_t> now_;
  std::size_t changes_max_;
  std::size_t i_ = 0;
  std::size_t j_ = 0;
  std::vector<LineChange> changes_;
};

}  // namespace

std::vector<LineChange> line_changes(std::span<const std::uint32_t> written,
                                     std::span<const std::uint32_t> now, std::size_t changes_max) {
  return Walk(written, now, changes_max).run();
}

}  // namespace forebay::report

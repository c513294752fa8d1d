// Small drawings as SVG text: axes, lines, bars, words. Colours are names of CSS variables, so that
// a page decides what they are in light and in dark.
//
// Units: pixels of the drawing; the page scales it. Text from outside is escaped. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay::report {

[[nodiscard]] std::string escape_html(std::string_view text);

// From values to pixels; ticks at round values.
class Scale {
 public:
  enum class Ends { kRound, kExact };
  [[nodiscard]] static Scale linear(double min, double max, double from_px, double to_px,
                                    Ends ends = Ends::kRound);
  // min > 0; widened to whole steps of 1, 2, 5.
  [[nodiscard]] static Scale logarithmic(double min, double max, double from_px, double to_px);
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }
  [[nodiscard]] double max() const { return max_; }

 private:
  double min_ = 0;
  double max_ = 1;
  double from_px_ = 0;
  double to_px_ = 1;
  bool log_ = false;
  std::vector<double> ticks_;
};

enum class Anchor { kStart, kMiddle, kEnd };

class Svg {
 public:
  // `label` says what the drawing shows, to those who cannot see it.
  Svg(double width, double height, std::string_view label);
  void line(double x1, double y1, double x2, double y2, std::string_view css_class);
  // `title` shows when pointed at.
  void rect(double x, double y, double width, double height, std::string_view fill,
            std::string_view title);
  void text(double x, double y, std::string_view words, std::string_view css_class,
            Anchor anchor = Anchor::kStart);
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view stroke,
                std::string_view css_class, std::string_view dashes);
  void area(const std::vector<std::pair<double, double>>& points, double base_y,
            std::string_view fill);
  void dot(double x, double y, double radius, std::string_view fill, std::string_view title);
  [[nodiscard]] std::string finish();

 private:
  std::string out_;
};

}  // namespace forebay::report

#include "report/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace forebay::report {
namespace {

constexpr std::array<double, 3> kSteps{1, 2, 5};
constexpr std::size_t kTicksMax = 13;

// The largest of 1, 2, 5 times a power of ten that is not above `value`.
double step_below(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  double step = decade;
  for (const double factor : kSteps) {
    if (factor * decade <= value * (1 + 1e-9)) step = factor * decade;
  }
  return step;
}

double step_above(double value) {
  const double below = step_below(value);
  if (below >= value * (1 - 1e-9)) return below;
  const double decade = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * decade >= value * (1 - 1e-9)) return factor * decade;
  }
  return 10 * decade;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Scale Scale::linear(double min, double max, double from_px, double to_px, Ends ends) {
  Scale scale;
  const double span = max > min ? max - min : 1;
  const double step = step_above(span / 5);
  scale.min_ = std::floor(min / step + 1e-9) * step;
  scale.max_ = std::ceil((min + span) / step - 1e-9) * step;
  scale.from_px_ = from_px;
  scale.to_px_ = to_px;
  for (int i = 0; i < 20 && scale.min_ + i * step <= scale.max_ * (1 + 1e-9); ++i) {
    scale.ticks_.push_back(scale.min_ + i * step);
  }
  if (ends == Ends::kExact) {
    scale.min_ = min;
    scale.max_ = min + span;
  }
  return scale;
}

Scale Scale::logarithmic(double min, double max, double from_px, double to_px) {
  Scale scale;
  scale.log_ = true;
  scale.min_ = step_below(std::max(min, 1e-12));
  scale.max_ = step_above(std::max(max, scale.min_ * 1.01));
  scale.from_px_ = from_px;
  scale.to_px_ = to_px;
  const double first = std::pow(10, std::floor(std::log10(scale.min_)));
  for (const bool every : {true, false}) {
    scale.ticks_.clear();
    for (double decade = first; decade <= scale.max_ * 1.001; decade *= 10) {
      for (const double factor : kSteps) {
        const double tick = factor * decade;
        const bool inside = tick >= scale.min_ * 0.999 && tick <= scale.max_ * 1.001;
        if (inside && (every || factor == 1)) scale.ticks_.push_back(tick);
      }
    }
    if (scale.ticks_.size() <= kTicksMax) break;
  }
  return scale;
}

double Scale::at(double value) const {
  const double part =
      log_ ? (std::log(std::max(value, min_)) - std::log(min_)) / (std::log(max_) - std::log(min_))
           : (value - min_) / (max_ - min_);
  return from_px_ + std::clamp(part, 0.0, 1.0) * (to_px_ - from_px_);
}

Svg::Svg(double width, double height, std::string_view label) {
  out_ = fmt::format("<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
                     width, height, escape_html(label));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  out_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                  x1, y1, x2, y2, css_class);
}

void Svg::rect(double x, double y, double width, double height, std::string_view fill,
               std::string_view title) {
  out_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" style=\"fill:var({})\">"
      "<title>{}</title></rect>\n",
      x, y, std::max(0.0, width), std::max(0.0, height), fill, escape_html(title));
}

void Svg::text(double x, double y, std::string_view words, std::string_view css_class,
               Anchor anchor) {
  constexpr std::array<const char*, 3> kAnchors{"start", "middle", "end"};
  out_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x,
                  y, css_class, kAnchors[static_cast<std::size_t>(anchor)], escape_html(words));
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view stroke,
                   std::string_view css_class, std::string_view dashes) {
  if (points.empty()) return;
  std::string path;
  for (const auto& [x, y] : points) path += fmt::format("{:.1f},{:.1f} ", x, y);
  path.pop_back();
  out_ += fmt::format(
      "<polyline points=\"{}\" class=\"{}\" style=\"stroke:var({})\" stroke-dasharray=\"{}\"/>\n",
      path, css_class, stroke, dashes);
}

void Svg::area(const std::vector<std::pair<double, double>>& points, double base_y,
               std::string_view fill) {
  if (points.empty()) return;
  std::string path = fmt::format("{:.1f},{:.1f} ", points.front().first, base_y);
  for (const auto& [x, y] : points) path += fmt::format("{:.1f},{:.1f} ", x, y);
  path += fmt::format("{:.1f},{:.1f}", points.back().first, base_y);
  out_ +=
      fmt::format("<polygon points=\"{}\" class=\"area\" style=\"fill:var({})\"/>\n", path, fill);
}

void Svg::dot(double x, double y, double radius, std::string_view fill, std::string_view title) {
  out_ += fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" style=\"fill:var({})\">"
      "<title>{}</title></circle>\n",
      x, y, radius, fill, escape_html(title));
}

std::string Svg::finish() { return out_ + "</svg>\n"; }

}  // namespace forebay::report

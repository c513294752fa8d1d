#include "report/latency_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report/charts.h"
#include "report/format.h"
#include "report/operations.h"
#include "report/svg.h"

namespace forebay::report {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 110;
constexpr double kRight = 940;
constexpr double kTop = 30;
constexpr double kBottom = 190;
constexpr double kBinsPerDecade = 10;
constexpr double kShortestNs = 10;  // what was shorter stands here

struct ArmLine {
  std::size_t arm;
  std::size_t count;  // of all its operations; some took no time
  std::vector<double> latency_ns;
  std::vector<double> share;  // of its operations, by bin
};

double clamped(double ns) { return std::max(kShortestNs, ns); }

std::size_t bin_of(double ns) {
  return static_cast<std::size_t>(std::log10(clamped(ns) / kShortestNs) * kBinsPerDecade + 1e-9);
}
double start_of(std::size_t bin) {
  return kShortestNs * std::pow(10, static_cast<double>(bin) / kBinsPerDecade);
}

std::vector<ArmLine> lines_of(std::string_view name,
                              const std::vector<std::vector<OperationSample>>& by_arm) {
  std::vector<ArmLine> lines;
  for (std::size_t a = 0; a < by_arm.size(); ++a) {
    const auto found = std::ranges::find(by_arm[a], name, &OperationSample::name);
    if (found == by_arm[a].end()) continue;
    ArmLine line{a, found->latency_ns.size(), found->latency_ns, {}};
    std::erase_if(line.latency_ns, [](double ns) { return ns <= 0; });
    if (line.latency_ns.empty()) continue;
    for (const double ns : line.latency_ns) {
      const std::size_t bin = bin_of(ns);
      if (bin >= line.share.size()) line.share.resize(bin + 1);
      line.share[bin] += 1 / static_cast<double>(line.count);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::pair<double, double>> steps_of(const ArmLine& line, const Scale& x,
                                                const Scale& y) {
  std::size_t first = 0;
  while (line.share[first] == 0) ++first;
  std::vector<std::pair<double, double>> points{{x.at(start_of(first)), y.at(0)}};
  for (std::size_t bin = first; bin < line.share.size(); ++bin) {
    points.emplace_back(x.at(start_of(bin)), y.at(line.share[bin]));
    points.emplace_back(x.at(start_of(bin + 1)), y.at(line.share[bin]));
  }
  points.emplace_back(x.at(start_of(line.share.size())), y.at(0));
  return points;
}

std::string draw(std::string_view name, const std::vector<ArmLine>& lines, const Summary& summary,
                 std::string_view candidate) {
  double low = 1e300;
  double high = 0;
  double most = 0;
  for (const ArmLine& line : lines) {
    low = std::min(low, clamped(std::ranges::min(line.latency_ns)));
    high = std::max(high, start_of(line.share.size()));
    most = std::max(most, std::ranges::max(line.share));
  }
  const Scale x = Scale::logarithmic(low, high, kLeft, kRight);
  const Scale y = Scale::linear(0, most, kBottom, kTop);
  Svg svg(kWidth, kBottom + 46, fmt::format("Histogram of the latency of {}", name));
  time_axis(svg, x, kTop, kBottom);
  for (const double tick : y.ticks()) {
    svg.line(kLeft, y.at(tick), kRight, y.at(tick), "grid");
    svg.text(kLeft - 10, y.at(tick) + 4, fmt::format("{:.3g} %", 100 * tick), "tick", Anchor::kEnd);
  }
  double legend_x = kLeft;
  for (const ArmLine& line : lines) {
    const std::string& arm = summary.arms[line.arm].name;
    const bool strong = arm == candidate;
    const char* css = strong ? "curve strong" : "curve";
    const char* dashes = arm_dashes(line.arm, strong);
    svg.polyline(steps_of(line, x, y), arm_color(line.arm), css, dashes);
    svg.polyline({{legend_x, 10}, {legend_x + 28, 10}}, arm_color(line.arm), css, dashes);
    const std::size_t at_once = line.count - line.latency_ns.size();
    const std::string words =
        fmt::format("{}: {}{}", arm, format_whole(line.count),
                    at_once == 0 ? "" : fmt::format(" ({} in no time)", format_whole(at_once)));
    svg.text(legend_x + 35, 14, words, "word");
    legend_x += 60 + 7.4 * static_cast<double>(words.size());
  }
  svg.text(kRight, kBottom + 40, "latency of one operation (logarithmic); share of the operations",
           "tick", Anchor::kEnd);
  return svg.finish();
}

}  // namespace

std::vector<LatencyChart> latency_charts(const RunLog& log, const Summary& summary) {
  std::vector<std::vector<OperationSample>> by_arm;
  for (std::size_t a = 0; a < summary.arms.size(); ++a) {
    by_arm.push_back(operation_samples(log, a, shown_rounds(log, a)));
  }
  std::vector<LatencyChart> charts;
  for (const std::string_view name : operation_names()) {
    const auto lines = lines_of(name, by_arm);
    if (lines.empty()) continue;
    charts.push_back({std::string(name), draw(name, lines, summary, log.facts.candidate)});
  }
  return charts;
}

}  // namespace forebay::report

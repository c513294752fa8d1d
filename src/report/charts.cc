#include "report/charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/format.h"
#include "report/svg.h"

namespace forebay::report {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 110;  // room for the names of arms and the numbers of an axis
constexpr double kRight = 940;
constexpr double kBehind = 70;  // for the total of a bar
constexpr std::size_t kArmColors = 8;
constexpr std::size_t kCurvePointsMax = 400;
constexpr std::array<const char*, 4> kDashes{"7 4", "2 3", "10 3 2 3", "4 2"};

struct Part {
  const char* name;
  const char* color;
  double value;
  std::string shown;
};

// A legend in one row; returns where it ends.
void legend(Svg& svg, double y, std::span<const Part> parts) {
  double x = kLeft;
  for (const Part& part : parts) {
    svg.rect(x, y - 9, 11, 11, part.color, part.name);
    svg.text(x + 17, y + 1, part.name, "word");
    x += 40 + 6.8 * static_cast<double>(std::string_view(part.name).size());
  }
}

constexpr double kBarHeight = 26;
constexpr double kBarStep = 40;

// One stacked bar an arm; `parts_of` gives its parts from left to right.
template <class PartsOf, class TotalOf>
std::string stacked_bars(const Summary& summary, const Scale& x, std::string_view label,
                         PartsOf parts_of, TotalOf total_of) {
  double y = 34;
  const auto shown = [](const ArmSummary& arm) { return arm.request_count > 0; };
  const auto rows = static_cast<double>(std::ranges::count_if(summary.arms, shown));
  const double bottom = y + rows * kBarStep;
  Svg svg(kWidth, bottom + 30, label);
  bool first = true;
  for (const ArmSummary& arm : summary.arms) {
    if (!shown(arm)) continue;
    const auto parts = parts_of(arm);
    if (first) legend(svg, 12, parts);
    first = false;
    svg.text(kLeft - 12, y + kBarHeight / 2 + 5, arm.name, "arm", Anchor::kEnd);
    double from = 0;
    for (const Part& part : parts) {
      const double width = x.at(from + part.value) - x.at(from);
      svg.rect(x.at(from), y, width, kBarHeight, part.color,
               fmt::format("{}, {}: {}", arm.name, part.name, part.shown));
      if (width > 62) {
        svg.text(x.at(from) + width / 2, y + kBarHeight / 2 + 4.5, part.shown, "inside",
                 Anchor::kMiddle);
      }
      from += part.value;
    }
    svg.text(x.at(from) + 8, y + kBarHeight / 2 + 5, total_of(arm), "word");
    y += kBarStep;
  }
  return svg.finish();
}

// Rows of the device's traffic of an arm in the first round that has any.
std::vector<const TrafficRow*> first_traffic(const RunLog& log, std::size_t arm) {
  std::vector<const TrafficRow*> rows;
  for (const TrafficRow& row : log.traffic) {
    const bool mine = row.variant == 0 && row.arm == static_cast<std::int64_t>(arm) &&
                      row.tier == 2 && row.slice_ns > 0;
    if (!mine || (!rows.empty() && rows.front()->round < row.round)) continue;
    if (!rows.empty() && rows.front()->round > row.round) rows.clear();
    rows.push_back(&row);
  }
  return rows;
}

double per_second(std::int64_t bytes, std::int64_t slice_ns) {
  return static_cast<double>(bytes) * 1e9 / static_cast<double>(slice_ns);
}

// More steps than this cannot be told apart in a drawing.
constexpr std::int64_t kTrafficStepsMax = 160;

// The traffic of an arm in steps of one length, without a gap.
struct Traffic {
  std::int64_t step_ns = 0;
  std::vector<double> read;  // bytes a second
  std::vector<double> written;
};

Traffic traffic_of(const RunLog& log, std::size_t arm) {
  Traffic traffic;
  const auto rows = first_traffic(log, arm);
  if (rows.empty()) return traffic;
  const std::int64_t slice_ns = rows.front()->slice_ns;
  std::int64_t last = 0;
  for (const TrafficRow* row : rows) last = std::max(last, row->slice_start_ns / slice_ns);
  last = std::min<std::int64_t>(last, std::int64_t{1} << 20);
  const std::int64_t merged = last / kTrafficStepsMax + 1;
  traffic.step_ns = slice_ns * merged;
  const auto steps = static_cast<std::size_t>(last / merged + 1);
  traffic.read.resize(steps);
  traffic.written.resize(steps);
  for (const TrafficRow* row : rows) {
    const std::int64_t slice = row->slice_start_ns / slice_ns;
    if (slice < 0 || slice > last) continue;
    const auto step = static_cast<std::size_t>(slice / merged);
    traffic.read[step] += per_second(row->read_bytes, traffic.step_ns);
    traffic.written[step] += per_second(row->written_bytes, traffic.step_ns);
  }
  return traffic;
}

struct Curve {
  std::vector<double> values;  // ns, ascending
  std::uint64_t count = 0;     // of requests, those without a value included
};

struct CurveWords {
  const char* title;
  const char* axis;
};

// The share of an arm's requests at or below a time, an arm a line; the axis is logarithmic and
// begins at 1 us at the least.
std::string curve_chart(const RunLog& log, std::span<const Curve> curves, const CurveWords& words) {
  constexpr double kTop = 30;
  constexpr double kBottom = 300;
  double low = 1e300;
  double high = 0;
  for (const Curve& curve : curves) {
    if (curve.values.empty()) continue;
    low = std::min(low, std::max(1e3, curve.values.front()));
    high = std::max(high, curve.values.back());
  }
  if (high <= 0) return "";
  const auto shown = [low](double value) { return std::max(low, value); };
  const Scale x = Scale::logarithmic(low, high, kLeft, kRight);
  const Scale y = Scale::linear(0, 1, kBottom, kTop);
  Svg svg(kWidth, kBottom + 50, words.title);
  time_axis(svg, x, kTop, kBottom);
  for (const double share : {0.0, 0.5, 0.9, 1.0}) {
    svg.line(kLeft, y.at(share), kRight, y.at(share), "grid");
    svg.text(kLeft - 10, y.at(share) + 4, fmt::format("{:.0f} %", 100 * share), "tick",
             Anchor::kEnd);
  }
  double legend_x = kLeft;
  for (std::size_t a = 0; a < curves.size(); ++a) {
    const std::vector<double>& values = curves[a].values;
    if (values.empty()) continue;
    const std::string& name = log.facts.arms[a].name;
    const bool candidate = name == log.facts.candidate;
    const char* dashes = arm_dashes(a, candidate);
    std::vector<std::pair<double, double>> points{{x.at(shown(values.front())), y.at(0)}};
    const std::size_t stride = std::max<std::size_t>(1, values.size() / kCurvePointsMax);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % stride != 0 && i + 1 != values.size()) continue;
      points.emplace_back(x.at(shown(values[i])),
                          y.at(static_cast<double>(i + 1) / static_cast<double>(curves[a].count)));
    }
    svg.polyline(points, arm_color(a), candidate ? "curve strong" : "curve", dashes);
    svg.polyline({{legend_x, 10}, {legend_x + 28, 10}}, arm_color(a),
                 candidate ? "curve strong" : "curve", dashes);
    svg.text(legend_x + 35, 14, name, "word");
    legend_x += 60 + 7.4 * static_cast<double>(name.size());
  }
  svg.text(kRight, kBottom + 42, words.axis, "tick", Anchor::kEnd);
  return svg.finish();
}

}  // namespace

void time_axis(Svg& svg, const Scale& x, double top, double bottom) {
  for (const double tick : x.ticks()) {
    svg.line(x.at(tick), top, x.at(tick), bottom, "grid");
    svg.text(x.at(tick), bottom + 18, format_tick_ns(tick), "tick", Anchor::kMiddle);
  }
}

std::string arm_color(std::size_t arm) { return fmt::format("--arm{}", arm % kArmColors); }

const char* arm_dashes(std::size_t arm, bool candidate) {
  return candidate ? "" : kDashes[arm % kDashes.size()];
}

std::string ttft_chart(const RunLog& log, const Summary& summary) {
  std::vector<Curve> curves;
  for (std::size_t a = 0; a < summary.arms.size(); ++a) {
    curves.push_back({counted_ttft_ns(log, a), summary.arms[a].ttft_ns.count});
  }
  return curve_chart(log, curves,
                     {"Distribution of the time to first token, one line an arm",
                      "time to first token, from the intended start (logarithmic)"});
}

std::string lag_chart(const RunLog& log) {
  std::vector<Curve> curves;
  for (std::size_t a = 0; a < log.facts.arms.size(); ++a) {
    std::vector<double> lags = counted_lag_ns(log, a);
    const std::uint64_t count = lags.size();
    curves.push_back({std::move(lags), count});
  }
  return curve_chart(log, curves,
                     {"Distribution of the client's lag, one line an arm",
                      "sent so long after the intended start (logarithmic)"});
}

std::string where_chart(const Summary& summary, const Unit& unit) {
  const auto total = [](const ArmSummary& arm) {
    const WhereNs& w = arm.where_ns;
    return w.queue + w.lookup + w.read + w.recompute + w.other;
  };
  double longest = 0;
  for (const ArmSummary& arm : summary.arms) longest = std::max(longest, total(arm));
  if (longest <= 0) return "";
  // No axis: the numbers stand in the bars and behind them.
  const Scale x = Scale::linear(0, longest, kLeft, kRight - kBehind, Scale::Ends::kExact);
  const auto shown = [&unit](double ns) {
    return fmt::format("{} {}", format_in(ns, unit), unit.name);
  };
  return stacked_bars(
      summary, x, "Where the mean time to first token went",
      [&shown](const ArmSummary& arm) {
        const WhereNs& w = arm.where_ns;
        const auto part = [&shown](const char* name, const char* color, double ns) {
          return Part{name, color, ns, shown(ns)};
        };
        return std::array{part("queue", "--queue", w.queue), part("lookup", "--lookup", w.lookup),
                          part("read", "--read", w.read),
                          part("recompute", "--recompute", w.recompute),
                          part("other", "--other", w.other)};
      },
      [&](const ArmSummary& arm) { return shown(total(arm)); });
}

std::string sources_chart(const Summary& summary) {
  const bool any = std::ranges::any_of(
      summary.arms, [](const ArmSummary& arm) { return arm.blocks.total() > 0; });
  if (!any) return "";
  const Scale x = Scale::linear(0, 1, kLeft, kRight);
  return stacked_bars(
      summary, x, "Where the KV blocks of the prompts came from",
      [](const ArmSummary& arm) {
        const double total = static_cast<double>(std::max<std::uint64_t>(1, arm.blocks.total()));
        const auto part = [&](const char* name, const char* color, std::uint64_t blocks) {
          const double value = static_cast<double>(blocks);
          return Part{name, color, value / total, format_share(value, total)};
        };
        return std::array{part("HBM", "--hbm", arm.blocks.hbm),
                          part("DRAM", "--dram", arm.blocks.dram),
                          part("flash or files", "--flash", arm.blocks.flash),
                          part("computed", "--recompute", arm.blocks.recomputed)};
      },
      [](const ArmSummary&) { return std::string(); });
}

double traffic_rate_max(const RunLog& log) {
  double highest = 0;
  for (std::size_t a = 0; a < log.facts.arms.size(); ++a) {
    const Traffic traffic = traffic_of(log, a);
    for (const double rate : traffic.read) highest = std::max(highest, rate);
    for (const double rate : traffic.written) highest = std::max(highest, rate);
  }
  return highest;
}

std::string traffic_chart(const RunLog& log, std::size_t arm, double rate_max) {
  const Traffic traffic = traffic_of(log, arm);
  if (traffic.read.empty() || rate_max <= 0) return "";
  constexpr double kTop = 26;
  constexpr double kBottom = 170;
  const double step_s = static_cast<double>(traffic.step_ns) / 1e9;
  const Scale x =
      Scale::linear(0, step_s * static_cast<double>(traffic.read.size()), kLeft, kRight);
  const Scale y = Scale::linear(0, rate_max, kBottom, kTop);
  std::vector<std::pair<double, double>> read;
  std::vector<std::pair<double, double>> written;
  for (std::size_t i = 0; i < traffic.read.size(); ++i) {
    for (const double at_s :
         {step_s * static_cast<double>(i), step_s * static_cast<double>(i + 1)}) {
      read.emplace_back(x.at(at_s), y.at(traffic.read[i]));
      written.emplace_back(x.at(at_s), y.at(traffic.written[i]));
    }
  }
  Svg svg(kWidth, kBottom + 42, "Bytes a second that the storage device moved");
  const Unit unit = rate_unit(std::array{y.max()});
  for (const double tick : y.ticks()) {
    svg.line(kLeft, y.at(tick), kRight, y.at(tick), "grid");
    svg.text(kLeft - 10, y.at(tick) + 4, fmt::format("{:g} {}", tick / unit.size, unit.name),
             "tick", Anchor::kEnd);
  }
  svg.text(kRight, kBottom + 36, "time since the start of the round", "tick", Anchor::kEnd);
  for (const double tick : x.ticks()) {
    svg.text(x.at(tick), kBottom + 18, fmt::format("{:g} s", tick), "tick", Anchor::kMiddle);
  }
  svg.area(read, kBottom, "--read");
  svg.polyline(written, "--written", "curve", "");
  svg.rect(kLeft, 3, 11, 11, "--read", "read");
  svg.text(kLeft + 17, 13, "read", "word");
  svg.polyline({{kLeft + 66, 9}, {kLeft + 90, 9}}, "--written", "curve", "");
  svg.text(kLeft + 97, 13, "written", "word");
  return svg.finish();
}

std::string rounds_chart(const Summary& summary) {
  double low = 1e300;
  double high = 0;
  std::size_t rows = 0;
  for (const ArmSummary& arm : summary.arms) {
    rows += !arm.ttft_ns_mean_by_round.empty();
    for (const auto& mean : arm.ttft_ns_mean_by_round) {
      if (!mean || *mean <= 0) continue;
      low = std::min(low, *mean);
      high = std::max(high, *mean);
    }
  }
  if (high <= 0) return "";
  const Scale x = Scale::logarithmic(low, high, kLeft, kRight);
  constexpr double kTop = 8;
  constexpr double kStep = 30;
  const double bottom = kTop + kStep * static_cast<double>(rows);
  Svg svg(kWidth, bottom + 46, "Mean time to first token of every round");
  svg.text(kRight, bottom + 40, "mean time to first token of a round (logarithmic)", "tick",
           Anchor::kEnd);
  time_axis(svg, x, kTop, bottom);
  double y = kTop + kStep / 2;
  for (std::size_t a = 0; a < summary.arms.size(); ++a) {
    const ArmSummary& arm = summary.arms[a];
    if (arm.ttft_ns_mean_by_round.empty()) continue;
    svg.text(kLeft - 12, y + 5, arm.name, "arm", Anchor::kEnd);
    for (std::size_t round = 0; round < arm.ttft_ns_mean_by_round.size(); ++round) {
      const auto& mean = arm.ttft_ns_mean_by_round[round];
      if (!mean || *mean <= 0) continue;
      svg.dot(x.at(*mean), y, 5, arm_color(a),
              fmt::format("{}, round {}: {}", arm.name, round + 1, format_ns(*mean)));
    }
    y += kStep;
  }
  return svg.finish();
}

}  // namespace forebay::report

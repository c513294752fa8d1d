#include "telemetry/metrics_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.h"

namespace forebay::telemetry {
namespace {

constexpr std::array<std::string_view, 3> kTypeNames{"counter", "gauge", "histogram"};
constexpr std::array<double, 3> kSteps{1, 2, 5};

bool is_name(std::string_view name) {
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

// How many values lie at or below `bound`: whole cells, so within 1/1000 of the bound.
std::uint64_t count_up_to(const Histogram& histogram, double bound) {
  if (bound >= static_cast<double>(histogram.max())) return histogram.count();
  return histogram.count_up_to(static_cast<std::uint64_t>(bound));
}

}  // namespace

void MetricsPage::family(std::string_view name, MetricType type, std::string_view help) {
  FOREBAY_CHECK(is_name(name) && names_.emplace(name).second);
  FOREBAY_CHECK((type == MetricType::kCounter) == name.ends_with("_total"));
  name_ = name;
  type_ = type;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                       kTypeNames[static_cast<std::size_t>(type)]);
}

void MetricsPage::line(std::string_view suffix, Labels labels, Label last, std::string_view value) {
  std::string inside;
  const auto add = [&inside](const Label& label) {
    if (!inside.empty()) inside += ',';
    inside += fmt::format("{}=\"{}\"", label.first, escaped(label.second));
  };
  for (const Label& label : labels) add(label);
  if (!last.first.empty()) add(last);
  text_ += name_;
  text_ += suffix;
  if (!inside.empty()) text_ += fmt::format("{{{}}}", inside);
  text_ += fmt::format(" {}\n", value);
}

void MetricsPage::sample(double value, Labels labels) {
  FOREBAY_CHECK(!name_.empty() && type_ != MetricType::kHistogram);
  line("", labels, {}, std::isnan(value) ? "NaN" : fmt::format("{}", value));
}

void MetricsPage::sample(std::uint64_t value, Labels labels) {
  FOREBAY_CHECK(!name_.empty() && type_ != MetricType::kHistogram);
  line("", labels, {}, fmt::format("{}", value));
}

void MetricsPage::histogram(const Histogram& histogram, double unit, Labels labels) {
  FOREBAY_CHECK(type_ == MetricType::kHistogram && unit > 0);
  const double least = static_cast<double>(histogram.min()) / unit;
  const double most = static_cast<double>(histogram.max()) / unit;
  const int first = least > 0 ? static_cast<int>(std::floor(std::log10(least))) : 0;
  bool covered = histogram.count() == 0;
  for (int power = first; !covered; ++power) {
    for (const double step : kSteps) {
      const double bound = step * std::pow(10.0, power);
      if (covered) break;
      covered = bound >= most;
      line("_bucket", labels, {"le", fmt::format("{:.6g}", bound)},
           fmt::format("{}", count_up_to(histogram, bound * unit)));
    }
  }
  line("_bucket", labels, {"le", "+Inf"}, fmt::format("{}", histogram.count()));
  line("_sum", labels, {},
       fmt::format("{}", histogram.mean() * static_cast<double>(histogram.count()) / unit));
  line("_count", labels, {}, fmt::format("{}", histogram.count()));
}

}  // namespace forebay::telemetry

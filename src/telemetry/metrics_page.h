// A page of metrics in Prometheus's text exposition format 0.0.4, built family by family.
//
//   page.family("forebay_store_used_bytes", MetricType::kGauge, "bytes held");
//   page.sample(4096, {{"tier", "flash"}});
//
// Names are lower case with the unit last (`_total` behind it for counters). Values; threads: one
// owner. A name that is no metric name, or a family begun twice, is a programmer error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "telemetry/histogram.h"

namespace forebay::telemetry {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

class MetricsPage {
 public:
  using Label = std::pair<std::string_view, std::string_view>;
  using Labels = std::initializer_list<Label>;

  // What follows belongs to it. `help`: one line, lower case, no full stop.
  void family(std::string_view name, MetricType type, std::string_view help);
  void sample(double value, Labels labels = {});
  void sample(std::uint64_t value, Labels labels = {});
  // Values of `histogram` are divided by `unit` (1e9: nanoseconds to seconds). Bounds: 1, 2 and 5
  // times powers of ten in the unit, as far as there are values.
  void histogram(const Histogram& histogram, double unit, Labels labels = {});

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void line(std::string_view suffix, Labels labels, Label last, std::string_view value);

  std::string text_;
  std::string name_;
  MetricType type_ = MetricType::kGauge;
  std::set<std::string, std::less<>> names_;
};

}  // namespace forebay::telemetry

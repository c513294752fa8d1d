#include <fmt/core.h>

#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>

#include "report/summary.h"

namespace forebay::report {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json to_json(const Distribution& d) {
  return {{"count", d.count},
          {"censored", d.censored},
          {"mean", optional_number(d.mean)},
          {"p50", optional_number(d.p50)},
          {"p90", optional_number(d.p90)},
          {"p99", optional_number(d.p99)},
          {"p999", optional_number(d.p999)},
          {"max", optional_number(d.max)}};
}

Json by_round(const ArmSummary& arm) {
  Json array = Json::array();
  for (const auto& mean : arm.ttft_ns_mean_by_round) array.push_back(optional_number(mean));
  return array;
}

Json to_json(const OperationSummary& operation) {
  return {{"name", operation.name},
          {"bytes", operation.bytes},
          {"failed_blocks", operation.failed_blocks},
          {"latency_ns", to_json(operation.latency_ns)}};
}

Json to_json(const ArmSummary& arm) {
  Json operations = Json::array();
  for (const auto& operation : arm.operations) operations.push_back(to_json(operation));
  return {{"name", arm.name},
          {"kind", arm.kind},
          {"skipped", arm.skipped},
          {"round_count", arm.round_count},
          {"request_count", arm.request_count},
          {"failed_count", arm.failed_count},
          {"wrong_blocks", arm.wrong_blocks},
          {"ttft_ns", to_json(arm.ttft_ns)},
          {"ns_per_output_token", to_json(arm.ns_per_output_token)},
          {"latency_ns", to_json(arm.latency_ns)},
          {"requests_per_second", arm.requests_per_second},
          {"input_tokens_per_second", arm.input_tokens_per_second},
          {"output_tokens_per_second", arm.output_tokens_per_second},
          {"load_bytes_per_second", optional_number(arm.load_bytes_per_second)},
          {"blocks",
           {{"hbm", arm.blocks.hbm},
            {"dram", arm.blocks.dram},
            {"flash", arm.blocks.flash},
            {"recomputed", arm.blocks.recomputed}}},
          {"where_ns",
           {{"queue", arm.where_ns.queue},
            {"lookup", arm.where_ns.lookup},
            {"read", arm.where_ns.read},
            {"recompute", arm.where_ns.recompute},
            {"other", arm.where_ns.other}}},
          {"ttft_ns_mean_by_round", by_round(arm)},
          {"lag_ns_p99", arm.lag_ns_p99},
          {"step_lag_share", arm.step_lag_share},
          {"device_read_bytes", arm.device_read_bytes},
          {"device_written_bytes", arm.device_written_bytes},
          {"cpu_seconds_per_round", arm.cpu_seconds_per_round},
          {"saved_blocks", arm.saved_blocks},
          {"save_refused_blocks", arm.save_refused_blocks},
          {"save_dropped_blocks", arm.save_dropped_blocks},
          {"ops_dropped", arm.ops_dropped},
          {"operations", std::move(operations)}};
}

Json to_json(const Comparison& comparison) {
  Json json{{"baseline", comparison.baseline},
            {"metric", comparison.metric},
            {"better", comparison.better == gate::Direction::kLowerIsBetter ? "lower" : "higher"},
            {"pair_count", comparison.ratio.pair_count},
            {"identical", comparison.identical},
            {"ratio", comparison.ratio.ratio}};
  const auto& interval = comparison.ratio.interval;
  json["low"] = interval ? Json(interval->low) : Json();
  json["high"] = interval ? Json(interval->high) : Json();
  json["confidence"] = interval ? Json(interval->confidence) : Json();
  return json;
}

Json to_json(const LateAttempt& late) {
  return {{"arm", late.arm},
          {"variant", late.variant},
          {"round", late.round},
          {"attempt", late.attempt},
          {"lag_ns_p99", late.pace.lag_ns_p99},
          {"step_lag_share", late.pace.step_lag_share}};
}

Json to_json(const VariantSummary& variant) {
  Json arms = Json::array();
  for (const auto& arm : variant.arms) {
    arms.push_back({{"name", arm.name},
                    {"ttft_ns_mean", optional_number(arm.ttft_ns_mean)},
                    {"output_tokens_per_second", arm.output_tokens_per_second}});
  }
  return {{"key", variant.key}, {"value", variant.value}, {"arms", std::move(arms)}};
}

template <class T>
Json list(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

constexpr int kDepthMax = 32;  // a summary has 6

class Differ {
 public:
  void walk(const std::string& path, const Json& stored, const Json& computed) {
    if (full()) return;
    if (computed.is_object() && stored.is_object()) {
      for (const auto& [key, value] : computed.items()) {
        const std::string below = path.empty() ? key : path + "." + key;
        if (stored.contains(key)) {
          walk(below, stored.at(key), value);
        } else {
          note(below + ": missing in the summary");
        }
      }
      for (const auto& [key, value] : stored.items()) {
        if (!computed.contains(key))
          note((path.empty() ? key : path + "." + key) + ": not a figure of this version");
      }
    } else if (computed.is_array() && stored.is_array() && computed.size() == stored.size()) {
      for (std::size_t i = 0; i < computed.size(); ++i) {
        walk(fmt::format("{}.{}", path, i), stored[i], computed[i]);
      }
    } else if (!same(stored, computed)) {
      note(fmt::format("{}: the summary says {}, the raw log gives {}", path, shown(stored),
                       shown(computed)));
    }
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  // Another compiler may add up in another order: the last digits are not a disagreement.
  static bool same(const Json& a, const Json& b) {
    if (!a.is_number() || !b.is_number()) return a == b;
    const double x = a.get<double>();
    const double y = b.get<double>();
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
  }
  static std::string shown(const Json& value) {
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= 80 ? text : text.substr(0, 77) + "...";
  }
  [[nodiscard]] bool full() const { return lines_.size() == kDifferencesMax; }
  void note(std::string line) {
    if (!full()) lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines_;
};

}  // namespace

std::string summary_to_json(const Summary& summary, const RunFacts& facts) {
  Json json{{"format", "forebay-joint-summary"},
            {"version", 1},
            {"name", facts.name},
            {"seed", facts.seed},
            {"scale", facts.scale},
            {"virtual_time", facts.virtual_time},
            {"valid", summary.valid},
            {"inconclusive", summary.inconclusive},
            {"invalid_reasons", summary.invalid_reasons},
            {"advice", summary.advice},
            {"partial", summary.partial},
            {"rounds_complete", summary.rounds_complete},
            {"candidate", facts.candidate}};
  json["late"] = list(summary.late);
  json["arms"] = list(summary.arms);
  json["comparisons"] = list(summary.comparisons);
  json["variants"] = list(summary.variants);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> compare_summaries(std::string_view stored_json,
                                           std::string_view recomputed_json) {
  // Deeper values are left out: what is shown of them is made by recursion.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMax; };
  const Json stored = Json::parse(stored_json, shallow, false);
  if (stored.is_discarded()) return {"the summary is not JSON"};
  Differ differ;
  differ.walk("", stored, Json::parse(recomputed_json));
  return differ.take();
}

}  // namespace forebay::report

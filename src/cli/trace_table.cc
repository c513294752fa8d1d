#include "cli/trace_table.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "core/bytes.h"
#include "core/printable.h"

namespace forebay::cli {
namespace {

using workload::Description;
using workload::LengthSummary;

// 12031 -> "12,031".
std::string grouped(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string row(std::string_view name, const std::string& value) {
  return fmt::format("{:<22} {}\n", name, value);
}

// `unit`: "" where the row's name has it.
std::string lengths(const LengthSummary& summary, std::string_view unit) {
  return fmt::format("p50 {}  p90 {}  p99 {}  max {}  mean {:.1f}{}{}", grouped(summary.p50),
                     grouped(summary.p90), grouped(summary.p99), grouped(summary.max), summary.mean,
                     unit.empty() ? "" : " ", unit);
}

std::string duration(std::int64_t time_ns) {
  const double seconds = static_cast<double>(time_ns) / 1e9;
  if (seconds < 600) return fmt::format("{:.1f} s", seconds);
  if (seconds < 36'000) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string gigabytes(std::uint64_t bytes) {
  const double amount = static_cast<double>(bytes) / 1e9;
  if (amount >= 999.95) return fmt::format("{:.2f} TB", amount / 1000);
  return fmt::format("{:.1f} GB", amount);
}

std::string arrival_rows(const Description& trace) {
  std::string text = row("requests", grouped(trace.request_count));
  if (trace.span_ns == 0) {
    return text + row("arrivals", trace.request_count > 1
                                      ? "all at one moment: no clock, so no rate and no burstiness"
                                      : "one request: no rate and no burstiness");
  }
  text += row("span", duration(trace.span_ns));
  text += row("rate", fmt::format("{:.2f} requests/s", trace.requests_per_s));
  std::string bursts = fmt::format("gap CV {:.2f} (Poisson: 1)", trace.gap_cv);
  // A trace that is shorter than the window has no fullest one.
  if (trace.peak_10s_over_mean > 0) {
    bursts += fmt::format(", fullest 10 s {:.1f} x mean", trace.peak_10s_over_mean);
  }
  text += row("burstiness", bursts);
  text += row("distinct arrivals", grouped(trace.distinct_arrival_count));
  return text;
}

std::string session_rows(const Description& trace) {
  if (trace.session_count == 0) return row("sessions", "not in this trace");
  std::string text = row("sessions", grouped(trace.session_count));
  text += row("turns a session", lengths(trace.turns, ""));
  if (trace.waiting_count > 0) text += row("waits for turns, ms", lengths(trace.think_ms, ""));
  return text;
}

std::string block_rows(const Description& trace) {
  if (trace.block_tokens == 0) return row("prefix reuse", "no block identities in this trace");
  std::string text = row("blocks", fmt::format("{} of {} tokens asked for, {} distinct",
                                               grouped(trace.accessed_blocks), trace.block_tokens,
                                               grouped(trace.unique_blocks)));
  text += row("infinite-cache hits", fmt::format("{:.4f} of blocks", trace.infinite_hit_ratio));
  text += row("prefix reuse", fmt::format("{:.4f} of requests, {:.4f} of input tokens",
                                          trace.reused_request_ratio, trace.reused_token_ratio));
  std::string working_set = fmt::format("{} tokens", grouped(trace.working_set_tokens));
  if (trace.kv_bytes_per_token > 0) {
    working_set += fmt::format(", {} at {} KV bytes a token", gigabytes(trace.working_set_bytes),
                               grouped(trace.kv_bytes_per_token));
  } else {
    working_set += "; name a --model for bytes";
  }
  text += row("working set", working_set);
  return text;
}

nlohmann::ordered_json json_of(const LengthSummary& summary) {
  return {{"mean", summary.mean},
          {"p50", summary.p50},
          {"p90", summary.p90},
          {"p99", summary.p99},
          {"max", summary.max}};
}

}  // namespace

std::string description_table(const Description& trace) {
  std::string text = row("format", trace.format);
  text += arrival_rows(trace);
  text += row("input", lengths(trace.input_tokens, "tokens"));
  text += row("output", lengths(trace.output_tokens, "tokens"));
  text += session_rows(trace);
  text += block_rows(trace);
  for (const std::string& note : trace.notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

std::string description_json(const Description& trace) {
  nlohmann::ordered_json peak;  // null: the trace is shorter than the window
  if (trace.peak_10s_over_mean > 0) peak = trace.peak_10s_over_mean;
  const nlohmann::ordered_json json = {{"format", trace.format},
                                       {"request_count", trace.request_count},
                                       {"skipped_count", trace.skipped_count},
                                       {"span_ns", trace.span_ns},
                                       {"requests_per_s", trace.requests_per_s},
                                       {"distinct_arrival_count", trace.distinct_arrival_count},
                                       {"gap_cv", trace.gap_cv},
                                       {"peak_10s_over_mean", peak},
                                       {"input_tokens", json_of(trace.input_tokens)},
                                       {"output_tokens", json_of(trace.output_tokens)},
                                       {"input_tokens_total", trace.input_tokens_total},
                                       {"output_tokens_total", trace.output_tokens_total},
                                       {"session_count", trace.session_count},
                                       {"turns", json_of(trace.turns)},
                                       {"waiting_count", trace.waiting_count},
                                       {"think_ms", json_of(trace.think_ms)},
                                       {"block_tokens", trace.block_tokens},
                                       {"accessed_blocks", trace.accessed_blocks},
                                       {"unique_blocks", trace.unique_blocks},
                                       {"hit_blocks", trace.hit_blocks},
                                       {"infinite_hit_ratio", trace.infinite_hit_ratio},
                                       {"reused_request_ratio", trace.reused_request_ratio},
                                       {"reused_token_ratio", trace.reused_token_ratio},
                                       {"working_set_tokens", trace.working_set_tokens},
                                       {"kv_bytes_per_token", trace.kv_bytes_per_token},
                                       {"working_set_bytes", trace.working_set_bytes},
                                       {"notes", trace.notes}};
  return json_text(json);
}

}  // namespace forebay::cli

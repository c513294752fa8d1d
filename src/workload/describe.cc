#include "workload/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace forebay::workload {
namespace {

constexpr std::int64_t kWindowNs = 10'000'000'000;

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// Sorts `values`.
LengthSummary summarise(std::vector<std::uint32_t>& values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  double sum = 0;
  for (const std::uint32_t value : values) sum += value;
  // Nearest rank: the smallest value that the fraction of all do not exceed.
  const auto at = [&](double fraction) -> std::uint64_t {
    const double rank = std::ceil(fraction * static_cast<double>(values.size()));
    return values[std::max<std::size_t>(1, static_cast<std::size_t>(rank)) - 1];
  };
  return {.mean = sum / static_cast<double>(values.size()),
          .p50 = at(0.50),
          .p90 = at(0.90),
          .p99 = at(0.99),
          .max = values.back()};
}

// Deviation over mean of the gaps; `sorted` has two arrivals at least.
double gap_cv(std::span<const std::int64_t> sorted) {
  const double count = static_cast<double>(sorted.size() - 1);
  const double mean = static_cast<double>(sorted.back() - sorted.front()) / count;
  double squares = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double off = static_cast<double>(sorted[i] - sorted[i - 1]) - mean;
    squares += off * off;
  }
  return ratio(std::sqrt(squares / count), mean);
}

// The most arrivals in any window of kWindowNs, wherever it begins.
std::size_t fullest_window(std::span<const std::int64_t> sorted) {
  std::size_t most = 0;
  std::size_t begin = 0;
  for (std::size_t end = 0; end < sorted.size(); ++end) {
    while (sorted[end] - sorted[begin] >= kWindowNs) ++begin;
    most = std::max(most, end - begin + 1);
  }
  return most;
}

}  // namespace

void Describer::add(const Request& request) {
  ++sums_.request_count;
  arrivals_ns_.push_back(request.arrival_ns);
  input_tokens_.push_back(request.input_tokens);
  output_tokens_.push_back(request.output_tokens);
  sums_.input_tokens_total += request.input_tokens;
  sums_.output_tokens_total += request.output_tokens;
  if (request.session != 0) ++turns_[request.session];
  if (request.parent >= 0) {
    constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
    think_ms_.push_back(static_cast<std::uint32_t>(std::min(kMax, request.think_ns / 1'000'000)));
  }
  add_blocks(request);
}

void Describer::add_blocks(const Request& request) {
  if (request.block_ids.empty()) return;
  sums_.block_tokens = request.block_tokens;
  sums_.accessed_blocks += request.block_ids.size();
  std::uint64_t hits = 0;
  bool leading = true;
  for (std::size_t i = 0; i < request.block_ids.size(); ++i) {
    const bool fresh = seen_.insert(request.block_ids[i]);
    leading = leading && !fresh;
    hits += leading ? 1 : 0;
    if (fresh) {  // the last block may be partial
      const std::uint64_t begin = std::uint64_t{i} * request.block_tokens;
      sums_.working_set_tokens +=
          std::min<std::uint64_t>(request.block_tokens, request.input_tokens - begin);
    }
  }
  sums_.hit_blocks += hits;
  reused_requests_ += hits > 0 ? 1 : 0;
  hit_tokens_ += std::min<std::uint64_t>(hits * request.block_tokens, request.input_tokens);
}

void Describer::describe_arrivals(Description& result) {
  if (arrivals_ns_.size() < 2) return;
  std::ranges::sort(arrivals_ns_);
  result.span_ns = arrivals_ns_.back() - arrivals_ns_.front();
  const double count = static_cast<double>(arrivals_ns_.size());
  result.requests_per_s = ratio(count * 1e9, static_cast<double>(result.span_ns));
  result.gap_cv = gap_cv(arrivals_ns_);
  if (result.span_ns >= kWindowNs) {
    const double mean = result.requests_per_s * static_cast<double>(kWindowNs) / 1e9;
    result.peak_10s_over_mean = ratio(static_cast<double>(fullest_window(arrivals_ns_)), mean);
  }
  const auto repeated = std::ranges::unique(arrivals_ns_);
  result.distinct_arrival_count = arrivals_ns_.size() - repeated.size();
}

Description Describer::finish(std::uint64_t kv_bytes_per_token) {
  Description result = std::move(sums_);
  describe_arrivals(result);
  result.input_tokens = summarise(input_tokens_);
  result.output_tokens = summarise(output_tokens_);
  result.waiting_count = think_ms_.size();
  result.think_ms = summarise(think_ms_);
  result.session_count = turns_.size();
  std::vector<std::uint32_t> turns;
  for (const auto& [session, count] : turns_) turns.push_back(count);
  result.turns = summarise(turns);
  result.unique_blocks = seen_.size();
  const double requests = static_cast<double>(result.request_count);
  result.infinite_hit_ratio =
      ratio(static_cast<double>(result.hit_blocks), static_cast<double>(result.accessed_blocks));
  result.reused_request_ratio = ratio(static_cast<double>(reused_requests_), requests);
  result.reused_token_ratio =
      ratio(static_cast<double>(hit_tokens_), static_cast<double>(result.input_tokens_total));
  result.kv_bytes_per_token = kv_bytes_per_token;
  result.working_set_bytes = result.working_set_tokens * kv_bytes_per_token;
  return result;
}

Result<Description> describe(TraceReader& reader, std::uint64_t kv_bytes_per_token) {
  Describer describer;
  Request request;
  while (true) {
    FOREBAY_TRY(more, reader.next(request));
    if (!more) break;
    describer.add(request);
  }
  Description result = describer.finish(kv_bytes_per_token);
  result.format = reader.format();
  result.notes = reader.notes();
  result.skipped_count = reader.skipped_count();
  return result;
}

}  // namespace forebay::workload

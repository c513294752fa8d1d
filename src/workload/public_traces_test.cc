// The numbers that others measured on the public traces, against what our readers make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "workload/reader.h"
#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

struct Reuse {
  std::uint64_t accessed_blocks = 0;
  std::uint64_t hit_blocks = 0;  // of an infinite cache: the leading run seen before
  std::uint64_t unique_blocks = 0;
};

Reuse infinite_cache(const std::vector<Request>& requests) {
  Reuse reuse;
  std::unordered_set<std::uint64_t> seen;
  for (const Request& request : requests) {
    reuse.accessed_blocks += request.block_ids.size();
    for (const std::uint64_t id : request.block_ids) {
      if (!seen.contains(id)) break;
      ++reuse.hit_blocks;
    }
    seen.insert(request.block_ids.begin(), request.block_ids.end());
  }
  reuse.unique_blocks = seen.size();
  return reuse;
}

std::vector<std::int64_t> arrivals(const Trace& trace) {
  std::vector<std::int64_t> result;
  for (const Request& request : trace.requests) result.push_back(request.arrival_ns);
  return result;
}

TEST(PublicTraces, MooncakeConversationHasTheCountsThatOthersMeasured) {
  FOREBAY_NEEDS_TRACE(path, "mooncake/conversation_trace.jsonl");
  Diagnostics diagnostics;
  ReadOptions options;
  options.spread_stamps = false;
  const auto trace = read_all(path, options, diagnostics);
  ASSERT_TRUE(trace.has_value());
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
  EXPECT_EQ(trace->requests.size(), 12'031U);
  const auto stamps = arrivals(*trace);
  EXPECT_EQ(std::set(stamps.begin(), stamps.end()).size(), 1'180U);
  const Reuse reuse = infinite_cache(trace->requests);
  EXPECT_EQ(reuse.accessed_blocks, 288'500U);
  EXPECT_NEAR(static_cast<double>(reuse.hit_blocks) / 288'500, 0.3664, 0.00005);
}

TEST(PublicTraces, MooncakeStampsAreSpreadInOrderInsideTheirThreeSeconds) {
  FOREBAY_NEEDS_TRACE(path, "mooncake/conversation_trace.jsonl");
  Diagnostics diagnostics;
  ReadOptions options;
  const auto spread = read_all(path, options, diagnostics);
  options.spread_stamps = false;
  const auto raw = read_all(path, options, diagnostics);
  ASSERT_TRUE(spread.has_value() && raw.has_value());
  ASSERT_EQ(spread->requests.size(), raw->requests.size());
  const auto times = arrivals(*spread);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_GT(std::set(times.begin(), times.end()).size(), 12'000U);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::int64_t late_ns = times[i] - raw->requests[i].arrival_ns;
    ASSERT_GE(late_ns, 0) << i;
    ASSERT_LT(late_ns, 3'000'000'000) << i;
    ASSERT_EQ(spread->requests[i].line, raw->requests[i].line);
  }
  EXPECT_NE(joined_notes(*spread).find("rounded to 3000 ms"), std::string::npos);
}

TEST(PublicTraces, AzureCodeHasTheBurstinessThatOthersMeasured) {
  FOREBAY_NEEDS_TRACE(path, "azure/AzureLLMInferenceTrace_code.csv");
  Diagnostics diagnostics;
  const auto trace = read_all(path, {}, diagnostics);
  ASSERT_TRUE(trace.has_value());
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
  ASSERT_EQ(trace->requests.size(), 8'819U);
  const auto times = arrivals(*trace);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double gap = static_cast<double>(times[i] - times[i - 1]);
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / 8'818;
  EXPECT_NEAR(std::sqrt(squares / 8'818 - mean * mean) / mean, 13.2, 0.05);
  EXPECT_EQ(trace->requests[0].input_tokens, 4'808U);
}

// Counted by an independent reader: 14,263 requests with sub-agents, 26,758,893 block accesses of
// which 0.963594 hit, 974,177 unique blocks.
TEST(PublicTraces, WekaSessionsReadFromThePackedArchive) {
  FOREBAY_NEEDS_TRACE(path, "weka-cc/claude-code-sessions.tar.zst");
  Diagnostics diagnostics;
  const auto trace = read_all(path, {}, diagnostics);
  ASSERT_TRUE(trace.has_value());
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
  EXPECT_EQ(trace->requests.size(), 14'263U);
  std::set<std::uint64_t> sessions;
  for (const Request& request : trace->requests) {
    sessions.insert(request.session);
    ASSERT_LT(request.parent, static_cast<std::int64_t>(request.index));
  }
  EXPECT_EQ(sessions.size(), 202U + 34U);
  const Reuse reuse = infinite_cache(trace->requests);
  EXPECT_EQ(reuse.accessed_blocks, 26'758'893U);
  EXPECT_EQ(reuse.unique_blocks, 974'177U);
  EXPECT_NEAR(static_cast<double>(reuse.hit_blocks) / 26'758'893, 0.963594, 0.000001);
}

TEST(PublicTraces, TraceLabFilesOfBothKindsRead) {
  FOREBAY_NEEDS_TRACE(csv, "tracelab/multi_session_large.csv");
  FOREBAY_NEEDS_TRACE(jsonl, "tracelab/round_trace.jsonl");
  FOREBAY_NEEDS_TRACE(startless, "tracelab/session_workload_example.csv");
  Diagnostics diagnostics;
  for (const std::string& path : {csv, jsonl, startless}) {
    const auto trace = read_all(path, {}, diagnostics);
    ASSERT_TRUE(trace.has_value()) << path;
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
    EXPECT_FALSE(trace->requests.empty()) << path;
    EXPECT_GT(infinite_cache(trace->requests).hit_blocks, 0U) << path;
  }
}

}  // namespace
}  // namespace forebay::workload

#include "workload/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_set>

#include "core/bytes.h"
#include "core/hash.h"
#include "workload/describe.h"
#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

Trace made(const GeneratorOptions& options) {
  Diagnostics diagnostics;
  check_options(options, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
  auto trace = read_all(*generate(options));
  EXPECT_TRUE(trace.has_value());
  return trace.value_or(Trace{});
}

std::vector<double> gaps_s(const Trace& trace) {
  std::vector<double> gaps;
  std::int64_t before_ns = 0;
  for (const Request& request : trace.requests) {
    gaps.push_back(static_cast<double>(request.arrival_ns - before_ns) / 1e9);
    before_ns = request.arrival_ns;
  }
  return gaps;
}

// Arrivals are whole nanoseconds: shorter gaps say more about rounding than about the process.
constexpr double kRoundingS = 1e-6;

// The largest distance between the sample and `cdf`, in units of the bound that a true sample
// passes once in a thousand times (Kolmogorov: 1.95 / sqrt(n)). Below 1: no reason to doubt.
double kolmogorov_smirnov(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::ranges::sort(sample);
  const double count = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (sample[i] < kRoundingS) continue;
    const double expected = cdf(sample[i]);
    distance = std::max({distance, expected - static_cast<double>(i) / count,
                         static_cast<double>(i + 1) / count - expected});
  }
  return distance * std::sqrt(count) / 1.95;
}

// Regularised lower incomplete gamma function by its power series (Abramowitz and Stegun 6.5.29).
double gamma_cdf(double shape, double x) {
  if (x <= 0) return 0;
  if (x > shape + 60) return 1;
  double term = 1 / shape;
  double sum = term;
  for (int n = 1; n < 2000 && term > sum * 1e-17; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return std::min(1.0, sum * std::exp(-x + shape * std::log(x) - std::lgamma(shape)));
}

TEST(Generator, PoissonArrivalsPassKolmogorovSmirnov) {
  const auto gaps = gaps_s(made({.seed = 11, .request_count = 20'000, .sessions_per_s = 4}));
  EXPECT_LT(kolmogorov_smirnov(gaps, [](double x) { return 1 - std::exp(-4 * x); }), 1);
  // The test can fail: a rate 5 % off is seen.
  EXPECT_GT(kolmogorov_smirnov(gaps, [](double x) { return 1 - std::exp(-4.2 * x); }), 1);
}

TEST(Generator, GammaArrivalsPassKolmogorovSmirnovBurstyAndRegular) {
  for (const double cv : {0.3, 2.0, 4.0}) {
    const auto gaps = gaps_s(made({.seed = 12,
                                   .request_count = 20'000,
                                   .arrivals = ArrivalKind::kGamma,
                                   .sessions_per_s = 2,
                                   .gap_cv = cv}));
    const double shape = 1 / (cv * cv);
    const auto cdf = [&](double x) { return gamma_cdf(shape, x * shape * 2); };
    EXPECT_LT(kolmogorov_smirnov(gaps, cdf), 1) << cv;
  }
}

// An interrupted Poisson process has hyperexponential gaps (Kuczura 1973).
TEST(Generator, OnOffArrivalsPassKolmogorovSmirnov) {
  const double on_s = 5;
  const double off_s = 20;
  const auto gaps = gaps_s(made({.seed = 13,
                                 .request_count = 20'000,
                                 .arrivals = ArrivalKind::kOnOff,
                                 .sessions_per_s = 2,
                                 .on_s_mean = on_s,
                                 .off_s_mean = off_s}));
  const double rate = 2 * (on_s + off_s) / on_s;
  const double sum = rate + 1 / on_s + 1 / off_s;
  const double root = std::sqrt(sum * sum - 4 * rate / off_s);
  const double fast = (sum + root) / 2;
  const double slow = (sum - root) / 2;
  const double weight = (rate - slow) / (fast - slow);
  const auto cdf = [&](double x) {
    return 1 - weight * std::exp(-fast * x) - (1 - weight) * std::exp(-slow * x);
  };
  EXPECT_LT(kolmogorov_smirnov(gaps, cdf), 1);
}

TEST(Generator, LengthsAreLognormalUpToTheirCut) {
  const Trace trace = made({.seed = 14,
                            .request_count = 20'000,
                            .new_tokens = {.median = 2000, .sigma = 0.8, .max = 1 << 20},
                            .context_tokens_max = 1 << 21});
  std::vector<double> lengths;
  for (const Request& request : trace.requests) lengths.push_back(request.input_tokens);
  EXPECT_LT(kolmogorov_smirnov(lengths,
                               [](double x) {
                                 return 0.5 * std::erfc(-std::log(x / 2000) / 0.8 / std::sqrt(2.0));
                               }),
            1);
}

GeneratorOptions chat() {
  return {.seed = 15,
          .request_count = 5'000,
          .sessions_per_s = 2,
          .turns_mean = 5,
          .tool_ratio = 0.5,
          .system_prompt_count = 8,
          .system_prompt_tokens = 1000,
          .block_tokens = 64};
}

// Two contexts share a leading run of ids exactly as far as they share a prefix: of one session the
// earlier turn's whole blocks, of two sessions with one system prompt its whole blocks (15 of 1000
// tokens), of others none.
TEST(Generator, IdsSayExactlyWhichPrefixIsShared) {
  const Trace trace = made(chat());
  std::map<std::uint64_t, const Request*> last_of;
  std::map<std::uint64_t, std::uint64_t> prompt_of_first_id;
  for (const Request& request : trace.requests) {
    ASSERT_EQ(request.block_ids.size(), divide_up(request.input_tokens, 64));
    ASSERT_GE(request.input_tokens, 1000U);
    const Request* before = last_of[request.session];
    ASSERT_EQ(request.turn, before == nullptr ? 0 : before->turn + 1);
    if (before != nullptr) {
      ASSERT_EQ(request.parent, static_cast<std::int64_t>(before->index));
      ASSERT_GE(request.input_tokens, before->input_tokens + before->output_tokens);
      const std::size_t whole = before->input_tokens / 64;
      const auto [a, b] = std::ranges::mismatch(request.block_ids, before->block_ids);
      ASSERT_EQ(static_cast<std::size_t>(a - request.block_ids.begin()), whole);
    }
    last_of[request.session] = &request;
    ++prompt_of_first_id[request.block_ids[0]];
  }
  EXPECT_EQ(prompt_of_first_id.size(), 8U);
  const Request& first = trace.requests[0];
  for (const Request& other : trace.requests) {
    if (other.session == first.session || other.block_ids[0] != first.block_ids[0]) continue;
    const auto [a, b] = std::ranges::mismatch(first.block_ids, other.block_ids);
    ASSERT_EQ(a - first.block_ids.begin(), 15);
  }
}

TEST(Generator, TurnsAreGeometricWithTheirMean) {
  GeneratorOptions options = chat();
  options.request_count = 40'000;
  options.sessions_per_s = 100;
  options.think_s_median = 0.1;
  options.tool_s_median = 0.1;
  options.context_tokens_max = 1 << 24;
  const Trace trace = made(options);
  std::map<std::uint64_t, double> turns;
  for (const Request& request : trace.requests) ++turns[request.session];
  EXPECT_NEAR(40'000 / static_cast<double>(turns.size()), 5, 0.3);
}

TEST(Generator, ContextsNeverPassTheirLimit) {
  GeneratorOptions options = chat();
  options.turns_mean = 200;
  options.context_tokens_max = 4000;
  for (const Request& request : made(options).requests) {
    ASSERT_LE(request.input_tokens, 4000U);
  }
}

std::string written(const Trace& trace) {
  std::string bytes;
  auto writer = find_trace_format("forebay")->create(memory_sink(&bytes), {});
  std::string why;
  for (const Request& request : trace.requests) EXPECT_TRUE(writer->write(request, why)) << why;
  EXPECT_TRUE(writer->close());
  return bytes;
}

TEST(Generator, SameSeedSameBytesOtherSeedOther) {
  GeneratorOptions options = chat();
  const std::string first = written(made(options));
  EXPECT_EQ(first, written(made(options)));
  options.seed = 16;
  EXPECT_NE(first, written(made(options)));
}

// One digest for all machines and compilers: whoever changes a draw changes every published seed.
TEST(Generator, OutputIsPinnedForAllMachines) {
  std::string all;
  for (const ArrivalKind kind : {ArrivalKind::kPoisson, ArrivalKind::kGamma, ArrivalKind::kOnOff}) {
    GeneratorOptions options = chat();
    options.arrivals = kind;
    all += written(made(options));
  }
  EXPECT_EQ(to_hex(sha256(all)),
            "de6149cffe757d7ff99265a093d8d149b753a0ba0a0ba5e41102f81d63c2ca33");
}

TEST(Generator, ALongerWorkloadBeginsWithTheShorter) {
  GeneratorOptions options = chat();
  const Trace longer = made(options);
  options.request_count = 500;
  const Trace shorter = made(options);
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_EQ(shorter.requests[i].arrival_ns, longer.requests[i].arrival_ns);
    ASSERT_EQ(shorter.requests[i].block_ids, longer.requests[i].block_ids);
  }
}

TEST(Generator, EveryOptionOutOfRangeIsNamed) {
  Diagnostics diagnostics;
  check_options({.sessions_per_s = 0,
                 .turns_mean = 0,
                 .tool_ratio = 2,
                 .new_tokens = {.median = 0, .sigma = -1, .max = 0},
                 .block_tokens = 1},
                diagnostics);
  EXPECT_EQ(diagnostics.count(), 7U) << diagnostics.text();
}

}  // namespace
}  // namespace forebay::workload

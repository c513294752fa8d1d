// Workloads made from a seed: arrivals, sessions with turns and waits, shared system prompts,
// lengths.
//
// The same options give the same requests, bit for bit, on every machine (draws.h). Requests come
// in the order of arrival. Each session draws from a stream of its own, so that a longer workload
// begins with the shorter one.
//
// Units: tokens, nanoseconds. Threads: one owner. Memory: the sessions that still have turns to
// come, at most kLiveSessionsMax; a session that begins when so many are live has one turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/diagnostics.h"
#include "core/error.h"
#include "workload/reader.h"

namespace forebay::workload {

enum class ArrivalKind {
  kPoisson,
  kGamma,  // gaps of deviation/mean = gap_cv: above 1 bursty, below 1 regular
  kOnOff,  // Poisson while on, nothing while off; both last exponentially
};

// exp(normal) around `median`, cut at max (and at 1).
struct LengthModel {
  double median = 0;
  double sigma = 0;  // of the logarithm; 0: always the median
  std::uint32_t max = 0;
};

struct GeneratorOptions {
  std::uint64_t seed = 1;
  std::uint64_t request_count = 1000;

  // Sessions begin at this rate; with one turn a session, requests do.
  ArrivalKind arrivals = ArrivalKind::kPoisson;
  double sessions_per_s = 1;
  double gap_cv = 2;       // kGamma
  double on_s_mean = 10;   // kOnOff
  double off_s_mean = 30;  // kOnOff; sessions_per_s stays the mean over both

  double turns_mean = 1;  // a session, geometric
  // What a turn after the first waits for: with tool_ratio a tool, else a person.
  double tool_ratio = 0;
  double think_s_median = 20;
  double tool_s_median = 1;
  double wait_sigma = 1;

  // Each session begins with one of these, chosen by Zipf; 0: none.
  std::uint32_t system_prompt_count = 0;
  std::uint32_t system_prompt_tokens = 1024;
  double system_prompt_zipf = 1;

  LengthModel new_tokens{.median = 512, .sigma = 1, .max = 32'768};  // a turn adds
  LengthModel output_tokens{.median = 128, .sigma = 1, .max = 4096};
  std::uint32_t context_tokens_max = 131'072;  // a turn that would pass it ends the session
  std::uint32_t block_tokens = 64;
};

[[nodiscard]] std::span<const std::string_view>
arrival_kind_names();  // "poisson", "gamma", "on-off"
[[nodiscard]] std::optional<ArrivalKind> find_arrival_kind(std::string_view name);

inline constexpr std::uint64_t kRequestsMax = std::uint64_t{1} << 24;
inline constexpr std::size_t kLiveSessionsMax = std::size_t{1} << 20;

// Notes each option that is out of range; the place is its name, "new_tokens_median" for the
// members of a LengthModel.
void check_options(const GeneratorOptions& options, Diagnostics& diagnostics);

// `options` passed check_options. The reader never fails.
[[nodiscard]] std::unique_ptr<TraceReader> generate(const GeneratorOptions& options);

}  // namespace forebay::workload

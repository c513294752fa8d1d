#include "cli/trace_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace forebay::cli {
namespace {

constexpr double kTimeSMax = 10.0 * 365 * 86'400;

// What is no number has its mistake already; the 0 in its place needs no second one.
bool mentioned(const Invocation& call, std::string_view flag) {
  return std::ranges::count(call.mistakes().kept(), flag, &Diagnostic::place) > 0;
}

std::uint32_t count32(const Invocation& call, std::string_view flag) {
  const std::uint64_t value = call.count(flag);
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (value <= kMax) return static_cast<std::uint32_t>(value);
  call.mistakes().add(std::string(flag), fmt::format("{} is more than {}", value, kMax));
  return 0;
}

std::int64_t seconds_ns(const Invocation& call, std::string_view flag) {
  const double seconds = call.number(flag);
  if (seconds >= 0 && seconds <= kTimeSMax) return std::llround(seconds * 1e9);
  call.mistakes().add(std::string(flag), fmt::format("{} is not from 0 s to ten years", seconds));
  return 0;
}

workload::LengthModel length_model(const Invocation& call, const std::string& prefix) {
  return {.median = call.number(prefix + "-median"),
          .sigma = call.number(prefix + "-sigma"),
          .max = count32(call, prefix + "-max")};
}

// "1/8": numerator and denominator.
workload::TokenScale token_scale(const Invocation& call) {
  const std::string text = call.text("--scale-tokens");
  const std::size_t slash = text.find('/');
  workload::TokenScale scale;
  const auto whole = [](std::string_view part, std::uint32_t* value) {
    const char* end = part.data() + part.size();
    const auto [at, error] = std::from_chars(part.data(), end, *value);
    return error == std::errc{} && at == end && *value > 0 && *value <= 65'536;
  };
  const std::string_view all = text;
  const bool good = whole(all.substr(0, slash), &scale.multiply) &&
                    (slash == std::string::npos || whole(all.substr(slash + 1), &scale.divide));
  if (!good) {
    call.mistakes().add("--scale-tokens", fmt::format("`{}` is not a factor", text),
                        "such as 1/8, or 2: whole numbers from 1 to 65536");
    return {};
  }
  return scale;
}

// A member of GeneratorOptions as its flag.
std::string flag_of(std::string name) {
  for (char& c : name) {
    if (c == '_') c = '-';
  }
  return "--" + name;
}

}  // namespace

workload::ReadOptions read_options(const Invocation& call) {
  workload::ReadOptions options;
  options.format = call.text("--format");
  options.seed = call.count("--seed");
  options.spread_stamps = !call.has("--as-recorded");
  options.block_tokens = count32(call, "--block-tokens");
  options.session_gap_ns_mean = seconds_ns(call, "--session-gap");
  options.line_bytes_max = call.bytes("--line-bytes");
  return options;
}

workload::GeneratorOptions generator_options(const Invocation& call) {
  workload::GeneratorOptions options;
  options.seed = call.count("--seed");
  options.request_count = call.count("--request-count");
  const std::string arrivals = call.text("--arrivals");
  const auto kind = workload::find_arrival_kind(arrivals);
  if (!kind) {
    call.mistakes().add("--arrivals", fmt::format("unknown kind `{}`", arrivals),
                        suggest(arrivals, workload::arrival_kind_names()));
  }
  options.arrivals = kind.value_or(workload::ArrivalKind::kPoisson);
  options.sessions_per_s = call.number("--sessions-per-s");
  options.gap_cv = call.number("--gap-cv");
  options.on_s_mean = call.number("--on-s-mean");
  options.off_s_mean = call.number("--off-s-mean");
  options.turns_mean = call.number("--turns-mean");
  options.tool_ratio = call.number("--tool-ratio");
  options.think_s_median = call.number("--think-s-median");
  options.tool_s_median = call.number("--tool-s-median");
  options.wait_sigma = call.number("--wait-sigma");
  options.system_prompt_count = count32(call, "--system-prompt-count");
  options.system_prompt_tokens = count32(call, "--system-prompt-tokens");
  options.system_prompt_zipf = call.number("--system-prompt-zipf");
  options.new_tokens = length_model(call, "--new-tokens");
  options.output_tokens = length_model(call, "--output-tokens");
  options.context_tokens_max = count32(call, "--context-tokens-max");
  options.block_tokens = count32(call, "--block-tokens");
  Diagnostics out_of_range;
  workload::check_options(options, out_of_range);
  for (const Diagnostic& item : out_of_range.kept()) {
    const std::string flag = flag_of(item.place);
    if (!mentioned(call, flag)) call.mistakes().add(flag, item.message, item.hint);
  }
  return options;
}

Changes changes(const Invocation& call) {
  Changes result;
  if (call.has("--begin") || call.has("--end") || call.has("--limit")) {
    workload::Slice slice;
    if (call.has("--begin")) slice.from_ns = seconds_ns(call, "--begin");
    if (call.has("--end")) slice.to_ns = seconds_ns(call, "--end");
    if (call.has("--limit")) slice.request_count_max = call.count("--limit");
    if (slice.request_count_max == 0 && !mentioned(call, "--limit")) {
      call.mistakes().add("--limit", "0 keeps no request");
    }
    if (slice.to_ns <= slice.from_ns) {
      call.mistakes().add("--end", "is not after --begin");
    }
    result.slice = slice;
  }
  result.speed_up = call.number("--speed-up");
  const bool in_range = result.speed_up >= 1e-3 && result.speed_up <= 1e6;
  if (!in_range && !mentioned(call, "--speed-up")) {
    call.mistakes().add("--speed-up",
                        fmt::format("{} is not from 0.001 to 1000000", result.speed_up));
  }
  result.reblock_tokens = count32(call, "--reblock");
  result.scale = token_scale(call);
  return result;
}

}  // namespace forebay::cli

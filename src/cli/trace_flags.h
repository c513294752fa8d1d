// The flags that the trace commands share, and what they mean.
#pragma once

#include <array>
#include <optional>

#include "cli/command.h"
#include "workload/generator.h"
#include "workload/reader.h"
#include "workload/transform.h"

namespace forebay::cli {

inline constexpr std::array<Flag, 7> kTraceReadFlags{{
    {"--format", "NAME", "", "trace format, when it is not to be recognised"},
    {"--seed", "NUMBER", "1", "seed of what the trace does not say"},
    {"--as-recorded", "", "", "leave rounded time stamps as they are"},
    {"--block-tokens", "COUNT", "", "tokens per block id, when not the format's own"},
    {"--session-gap", "SECONDS", "30", "mean gap between sessions recorded without a start"},
    {"--line-bytes", "SIZE", "16M", "longest line that is read"},
    {"--strict", "", "", "exit 1 when any entry is malformed"},
}};

inline constexpr std::array<Flag, 25> kGenerateFlags{{
    {"--seed", "NUMBER", "1", "same seed, same workload on every machine"},
    {"--request-count", "COUNT", "1000", "how many requests"},
    {"--arrivals", "KIND", "poisson", "poisson, gamma or on-off"},
    {"--sessions-per-s", "RATE", "1", "rate at which sessions begin"},
    {"--gap-cv", "RATIO", "2", "gamma: deviation over mean of the gaps"},
    {"--on-s-mean", "SECONDS", "10", "on-off: mean length of a busy phase"},
    {"--off-s-mean", "SECONDS", "30", "on-off: mean length of a quiet phase"},
    {"--turns-mean", "COUNT", "1", "mean turns of a session"},
    {"--tool-ratio", "RATIO", "0", "share of turns that wait for a tool, not a person"},
    {"--think-s-median", "SECONDS", "20", "how long a person waits"},
    {"--tool-s-median", "SECONDS", "1", "how long a tool takes"},
    {"--wait-sigma", "NUMBER", "1", "spread of both: deviation of the logarithm"},
    {"--system-prompt-count", "COUNT", "0", "distinct system prompts"},
    {"--system-prompt-tokens", "COUNT", "1024", "length of each"},
    {"--system-prompt-zipf", "EXPONENT", "1", "how unevenly they are used; 0: evenly"},
    {"--new-tokens-median", "COUNT", "512", "tokens that a turn adds"},
    {"--new-tokens-sigma", "NUMBER", "1", "spread: deviation of the logarithm"},
    {"--new-tokens-max", "COUNT", "32768", "longest addition"},
    {"--output-tokens-median", "COUNT", "128", "tokens of an answer"},
    {"--output-tokens-sigma", "NUMBER", "1", "spread: deviation of the logarithm"},
    {"--output-tokens-max", "COUNT", "4096", "longest answer"},
    {"--context-tokens-max", "COUNT", "131072", "a turn that would pass it ends the session"},
    {"--block-tokens", "COUNT", "64", "tokens per block id"},
    {"--output", "FILE", "", "where the trace goes (required)"},
    {"--to", "FORMAT", "forebay", "trace format to write"},
}};

// Two flag tables as one.
template <std::size_t A, std::size_t B>
constexpr std::array<Flag, A + B> joined(const std::array<Flag, A>& a,
                                         const std::array<Flag, B>& b) {
  std::array<Flag, A + B> all;
  for (std::size_t i = 0; i < A; ++i) all[i] = a[i];
  for (std::size_t i = 0; i < B; ++i) all[A + i] = b[i];
  return all;
}

// Both note their mistakes in call.mistakes().
[[nodiscard]] workload::ReadOptions read_options(const Invocation& call);
[[nodiscard]] workload::GeneratorOptions generator_options(const Invocation& call);

// What `convert` changes on the way.
struct Changes {
  std::optional<workload::Slice> slice;
  double speed_up = 1;
  std::uint32_t reblock_tokens = 0;  // 0: as they are
  workload::TokenScale scale;
};
[[nodiscard]] Changes changes(const Invocation& call);

}  // namespace forebay::cli

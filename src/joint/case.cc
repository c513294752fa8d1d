#include "joint/case.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/places.h"
#include "core/bytes.h"

namespace forebay::joint {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

// Tokens of the largest request there can be; a generated workload differs by round, so its bound.
std::uint64_t largest_request(const Case& test) {
  if (varies_by_round(test.spec)) {
    const auto& generator = test.spec.workload.generator;
    return std::uint64_t{generator.context_tokens_max} + generator.output_tokens.max;
  }
  std::uint64_t largest = 0;
  for (const workload::Request& request : test.workload.requests) {
    largest = std::max(largest, std::uint64_t{request.input_tokens} + request.output_tokens);
  }
  return largest;
}

bool all_fit(const Case& test, const std::string& spec_file, Diagnostics& mistakes) {
  const engine::EngineOptions& options = test.setup.options;
  const std::uint64_t block_bytes =
      round_up(options.kv_bytes_per_token * options.block_tokens, kPageBytes);
  const std::uint64_t pool_tokens = options.hbm_kv_bytes / block_bytes * options.block_tokens;
  const std::uint64_t largest = largest_request(test);
  if (round_up(largest, options.block_tokens) <= pool_tokens) return true;
  mistakes.add(spec_file,
               fmt::format("requests of up to {} tokens can never fit into HBM, which holds {}",
                           largest, pool_tokens),
               varies_by_round(test.spec)
                   ? "lower `context_tokens_max`, or raise `hbm_kv_bytes` or `tp`"
                   : "raise `hbm_kv_bytes` or `tp`");
  return false;
}

bool some_counted(const Case& test, const std::string& spec_file, Diagnostics& mistakes) {
  const double last_s = static_cast<double>(test.workload.requests.back().arrival_ns) / 1e9;
  if (last_s >= test.spec.run.warm_up_s) return true;
  mistakes.add(
      spec_file,
      fmt::format("all requests arrive within {:.1f} s, before the warm-up of {:g} s ends: "
                  "none would count",
                  last_s, test.spec.run.warm_up_s),
      "lower `warm_up_s`, or take more requests");
  return false;
}

}  // namespace

std::optional<Case> load_case(const Spec& spec, const std::string& spec_file,
                              Diagnostics& mistakes) {
  auto workload = load_workload(spec, spec_file, 0, mistakes);
  if (!workload) return std::nullopt;
  auto setup = set_up_engine(spec, config::Places(spec_file), workload->block_tokens, mistakes);
  if (!setup) return std::nullopt;
  Case test{spec, std::move(*setup), std::move(*workload), 0};
  const bool fit = all_fit(test, spec_file, mistakes);
  if (!some_counted(test, spec_file, mistakes) || !fit) return std::nullopt;
  return test;
}

bool move_to_round(Case& test, std::uint64_t round, const std::string& spec_file,
                   Diagnostics& mistakes) {
  if (round == test.round || !varies_by_round(test.spec)) return true;
  auto workload = load_workload(test.spec, spec_file, round, mistakes);
  if (!workload) return false;
  test.workload = std::move(*workload);
  test.round = round;
  return true;
}

}  // namespace forebay::joint

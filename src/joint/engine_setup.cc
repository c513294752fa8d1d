#include "joint/engine_setup.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "config/places.h"
#include "core/bytes.h"
#include "engine/timing.h"

namespace forebay::joint {
namespace {

constexpr const char* kFromSpec = "given in the spec";
constexpr std::uint64_t kInFlightDefault = 1 * kGiB;

template <class Items>
std::vector<std::string_view> names_of(const Items& items) {
  std::vector<std::string_view> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

// Looks up model and accelerator; both null is fine, an unknown name is not.
struct Tables {
  std::optional<engine::ModelGeometry> model;
  const engine::Accelerator* accelerator = nullptr;
};

bool look_up(const EngineSpec& spec, const config::Places& places, Tables& tables,
             Diagnostics& mistakes) {
  const std::size_t before = mistakes.count();
  if (!spec.model.empty()) {
    if (const auto* model = engine::find_model(spec.model)) {
      tables.model = *model;
      if (spec.kv_element_bytes > 0) {
        tables.model->kv_element_bytes = static_cast<std::uint32_t>(spec.kv_element_bytes);
      }
      if (spec.weight_bytes > 0) tables.model->weight_bytes = spec.weight_bytes;
    } else {
      mistakes.add(places.of("engine.model"), fmt::format("no model `{}`", spec.model),
                   suggest(spec.model, names_of(engine::all_models())));
    }
  }
  if (!spec.accelerator.empty()) {
    tables.accelerator = engine::find_accelerator(spec.accelerator);
    if (tables.accelerator == nullptr) {
      mistakes.add(places.of("engine.accelerator"),
                   fmt::format("no accelerator `{}`", spec.accelerator),
                   suggest(spec.accelerator, names_of(engine::all_accelerators())));
    }
  }
  return mistakes.count() == before;
}

// Without both tables every figure must be given.
void require_figures(const EngineSpec& spec, const Tables& tables, const config::Places& places,
                     Diagnostics& mistakes) {
  const auto require = [&](const char* key, bool given) {
    if (given) return;
    mistakes.add(places.of("engine"), fmt::format("`{}` is missing in [engine]", key),
                 "give it, or `model` and `accelerator` to take it from the tables");
  };
  require("kv_bytes_per_token", spec.kv_bytes_per_token > 0 || tables.model);
  require("hbm_kv_bytes", spec.hbm_kv_bytes > 0);
  require("prefill_tokens_per_second", spec.prefill_tokens_per_second > 0);
  require("decode_seconds_per_step", spec.decode_seconds_per_step > 0);
}

std::optional<engine::EngineTiming> table_timing(const EngineSpec& spec, const Tables& tables,
                                                 const config::Places& places,
                                                 Diagnostics& mistakes) {
  if (!tables.model || tables.accelerator == nullptr) {
    const std::size_t before = mistakes.count();
    require_figures(spec, tables, places, mistakes);
    if (mistakes.count() != before) return std::nullopt;
    engine::EngineTiming timing;
    if (tables.model) {
      timing.kv_bytes_per_token = engine::kv_bytes_per_token(*tables.model);
      timing.kv_source = engine::kv_formula(*tables.model);
    }
    return timing;
  }
  engine::TimingAssumptions assumptions;
  assumptions.prefill_flops_share = spec.prefill_flops_share;
  auto timing = engine::timing_for(*tables.model, *tables.accelerator,
                                   static_cast<std::uint32_t>(spec.tp), assumptions);
  if (timing) return *timing;
  mistakes.add(
      places.of(places.has("engine.tp") ? "engine.tp" : "engine.accelerator"),
      fmt::format("{} GB of weights do not fit into {} x {} of {:.0f} GB",
                  std::llround(tables.model->weight_bytes / 1e9), spec.tp, tables.accelerator->name,
                  tables.accelerator->hbm_bytes / 1e9),
      "raise `tp`, take a larger accelerator, or set `weight_bytes` (fp8 weights are half)");
  return std::nullopt;
}

void override_timing(const EngineSpec& spec, engine::EngineTiming& timing) {
  if (spec.kv_bytes_per_token > 0) {
    timing.kv_bytes_per_token = spec.kv_bytes_per_token;
    timing.kv_source = kFromSpec;
  }
  if (spec.hbm_kv_bytes > 0) {
    timing.hbm_kv_bytes = spec.hbm_kv_bytes;
    timing.hbm_source = kFromSpec;
  }
  if (spec.prefill_tokens_per_second > 0) {
    timing.prefill_tokens_per_second = spec.prefill_tokens_per_second;
    timing.prefill_seconds_per_token_pair = spec.prefill_seconds_per_token_pair;
    timing.prefill_source = kFromSpec;
  }
  if (spec.decode_seconds_per_step > 0) {
    timing.decode_seconds_per_step = spec.decode_seconds_per_step;
    timing.decode_seconds_per_sequence = spec.decode_seconds_per_sequence;
    timing.decode_source = kFromSpec;
  }
  if (spec.link_bytes_per_second > 0) {
    timing.link_bytes_per_second = spec.link_bytes_per_second;
    timing.link_source = kFromSpec;
  }
}

std::vector<report::Assumption> assumptions_of(const engine::EngineTiming& timing) {
  const auto or_given = [](const std::string& source) {
    return source.empty() ? std::string(kFromSpec) : source;
  };
  std::string prefill = fmt::format("{:.0f} tok/s", timing.prefill_tokens_per_second);
  if (timing.prefill_seconds_per_token_pair > 0) {
    prefill += fmt::format(" + {:.3g} s per token pair", timing.prefill_seconds_per_token_pair);
  }
  return {
      {"KV bytes per token", fmt::format("{}", timing.kv_bytes_per_token),
       or_given(timing.kv_source)},
      {"HBM for KV", format_bytes(timing.hbm_kv_bytes), or_given(timing.hbm_source)},
      {"prefill", prefill, or_given(timing.prefill_source)},
      {"decode",
       fmt::format("{:.2f} ms a step + {:.3f} ms a sequence", timing.decode_seconds_per_step * 1e3,
                   timing.decode_seconds_per_sequence * 1e3),
       or_given(timing.decode_source)},
      {"host to device",
       timing.link_bytes_per_second > 0
           ? fmt::format("{:.1f} GB/s", timing.link_bytes_per_second / 1e9)
           : std::string("free"),
       or_given(timing.link_source)}};
}

}  // namespace

std::optional<EngineSetup> set_up_engine(const Spec& spec, const config::Places& places,
                                         std::uint32_t workload_block_tokens,
                                         Diagnostics& mistakes) {
  Tables tables;
  if (!look_up(spec.engine, places, tables, mistakes)) return std::nullopt;
  auto timing = table_timing(spec.engine, tables, places, mistakes);
  if (!timing) return std::nullopt;
  override_timing(spec.engine, *timing);

  EngineSetup setup;
  engine::EngineOptions& options = setup.options;
  engine::apply_timing(*timing, spec.run.scale, options);
  options.block_tokens = spec.engine.block_tokens > 0
                             ? static_cast<std::uint32_t>(spec.engine.block_tokens)
                             : workload_block_tokens;
  if (options.block_tokens == 0) options.block_tokens = kBlockTokensDefault;
  options.step_token_budget = static_cast<std::uint32_t>(spec.engine.step_token_budget);
  options.sequences_max = static_cast<std::uint32_t>(spec.engine.sequences_max);
  const auto in_flight = [&](std::uint64_t wanted) {
    return wanted == 0 ? kInFlightDefault : scaled_bytes(wanted, spec.run.scale);
  };
  options.load_in_flight_bytes_max = in_flight(spec.engine.load_in_flight_bytes_max);
  options.save_in_flight_bytes_max = in_flight(spec.engine.save_in_flight_bytes_max);
  options.load_deadline = Nanos(std::llround(spec.engine.load_deadline_s * 1e9));
  options.content_seed = spec.run.seed;
  options.space = {"joint", fmt::format("{} tokens of {} bytes, seed {}", options.block_tokens,
                                        options.kv_bytes_per_token, spec.run.seed)};
  const std::uint64_t block_bytes = options.kv_bytes_per_token * options.block_tokens;
  if (options.hbm_kv_bytes < block_bytes) {
    mistakes.add(places.of("engine.hbm_kv_bytes"),
                 fmt::format("HBM holds {} of KV, not one block of {}",
                             format_bytes(options.hbm_kv_bytes), format_bytes(block_bytes)),
                 "raise `hbm_kv_bytes`, or lower `block_tokens`");
    return std::nullopt;
  }
  if (block_bytes > store::kBlockBytesMax) {
    mistakes.add(places.of("engine.block_tokens"),
                 fmt::format("a block of {} tokens has {}; at most {}", options.block_tokens,
                             format_bytes(block_bytes), format_bytes(store::kBlockBytesMax)),
                 "lower `block_tokens` or raise `scale`");
    return std::nullopt;
  }
  setup.assumptions = assumptions_of(*timing);
  return setup;
}

}  // namespace forebay::joint

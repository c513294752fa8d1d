#include "engine/timing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace forebay::engine {
namespace {

const PublishedRate* published_for(const ModelGeometry& model, const Accelerator& accelerator,
                                   std::uint32_t tp) {
  const auto rates = published_rates();
  const auto at = std::ranges::find_if(rates, [&](const PublishedRate& rate) {
    return rate.model == model.name && rate.accelerator == accelerator.name && rate.cards == tp;
  });
  return at == rates.end() ? nullptr : &*at;
}

struct Deployment {
  const ModelGeometry& model;
  const Accelerator& accelerator;
  double cards;
  const TimingAssumptions& assumptions;

  [[nodiscard]] double prefill_flops_per_second() const {
    return cards * accelerator.bf16_flops_per_second * assumptions.prefill_flops_share;
  }
  [[nodiscard]] double decode_bytes_per_second() const {
    return cards * accelerator.hbm_bytes_per_second * assumptions.decode_bandwidth_share;
  }
};

void set_prefill(const Deployment& at, const PublishedRate* published, EngineTiming& timing) {
  if (published != nullptr) {
    timing.prefill_tokens_per_second = published->prefill_tokens_per_second;
    timing.prefill_source = published->source;
    return;
  }
  const double rate = at.prefill_flops_per_second();
  timing.prefill_tokens_per_second = rate / linear_flops_per_token(at.model);
  timing.prefill_seconds_per_token_pair = attention_flops_per_pair(at.model) / rate;
  timing.prefill_source = fmt::format(
      "computed: {} cards x {:.0f} TFLOPS ({}) x {:.2f} / (2 x {:.1f}e9 active parameters), and "
      "{:.2f} MFLOP a token pair for attention",
      at.cards, at.accelerator.bf16_flops_per_second / 1e12, at.accelerator.source,
      at.assumptions.prefill_flops_share, at.model.active_parameter_count / 1e9,
      attention_flops_per_pair(at.model) / 1e6);
}

// A step streams all weights once (with enough sequences every expert is touched), and for each
// sequence its KV; the arithmetic of one token is on top.
void set_decode(const Deployment& at, double copies, EngineTiming& timing) {
  const double rate = at.decode_bytes_per_second();
  const double kv_bytes = static_cast<double>(timing.kv_bytes_per_token) * copies *
                          at.assumptions.decode_context_tokens;
  timing.decode_seconds_per_step = at.model.weight_bytes / rate;
  timing.decode_seconds_per_sequence =
      kv_bytes / rate + linear_flops_per_token(at.model) / at.prefill_flops_per_second();
  timing.decode_source = fmt::format(
      "computed: {:.1f} GB of weights a step and {:.0f} tokens of KV a sequence over {} cards x "
      "{:.2f} TB/s ({}) x {:.2f}",
      at.model.weight_bytes / 1e9, at.assumptions.decode_context_tokens, at.cards,
      at.accelerator.hbm_bytes_per_second / 1e12, at.accelerator.source,
      at.assumptions.decode_bandwidth_share);
}

}  // namespace

Result<EngineTiming> timing_for(const ModelGeometry& model, const Accelerator& accelerator,
                                std::uint32_t tp, const TimingAssumptions& assumptions) {
  if (tp == 0) return fail(Errc::kInvalid, "timing: at least one card");
  const Deployment at{model, accelerator, static_cast<double>(tp), assumptions};
  const double usable_bytes = at.cards * accelerator.hbm_bytes * assumptions.hbm_usable_share;
  if (usable_bytes <= model.weight_bytes) {
    return fail(Errc::kInvalid, "timing: the weights do not fit into the cards");
  }
  const double copies = kv_copies(model, tp);
  EngineTiming timing;
  timing.kv_bytes_per_token = kv_bytes_per_token(model);
  timing.kv_source = fmt::format("{}: {}", model.source, kv_formula(model));
  set_prefill(at, published_for(model, accelerator, tp), timing);
  set_decode(at, copies, timing);
  timing.hbm_kv_bytes = static_cast<std::uint64_t>((usable_bytes - model.weight_bytes) / copies);
  timing.hbm_source = fmt::format(
      "computed: ({} cards x {:.0f} GB x {:.2f} - {:.1f} GB of weights) / {} copies", tp,
      accelerator.hbm_bytes / 1e9, assumptions.hbm_usable_share, model.weight_bytes / 1e9, copies);
  timing.link_bytes_per_second = at.cards * accelerator.link_bytes_per_second / copies;
  timing.link_source =
      fmt::format("{} x {:.1f} GB/s / {} copies; {}", tp, accelerator.link_bytes_per_second / 1e9,
                  copies, accelerator.link_source);
  return timing;
}

void apply_timing(const EngineTiming& timing, double scale, EngineOptions& options) {
  FOREBAY_CHECK(scale >= 1);
  const auto divided = [scale](std::uint64_t bytes) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / scale));
  };
  options.kv_bytes_per_token = std::max<std::uint64_t>(1, divided(timing.kv_bytes_per_token));
  options.hbm_kv_bytes = divided(timing.hbm_kv_bytes);
  options.link_bytes_per_second = timing.link_bytes_per_second / scale;
  options.prefill_tokens_per_second = timing.prefill_tokens_per_second;
  options.prefill_seconds_per_token_pair = timing.prefill_seconds_per_token_pair;
  options.decode_seconds_per_step = timing.decode_seconds_per_step;
  options.decode_seconds_per_sequence = timing.decode_seconds_per_sequence;
}

}  // namespace forebay::engine

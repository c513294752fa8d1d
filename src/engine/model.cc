#include "engine/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace forebay::engine {
namespace {

// Grouped-query attention in every layer.
constexpr ModelGeometry grouped(ModelGeometry model) {
  if (model.full_layers == 0) model.full_layers = model.layers;
  model.value_dim = model.head_dim;
  if (model.active_parameter_count == 0) model.active_parameter_count = model.parameter_count;
  if (model.weight_bytes == 0) model.weight_bytes = 2 * model.parameter_count;
  return model;
}

// The latent attention of DeepSeek-V3 and what is built like it.
constexpr ModelGeometry latent(ModelGeometry model) {
  model.full_layers = model.layers;
  model.head_dim = 128 + 64;
  model.value_dim = 128;
  model.kv_lora_rank = 512;
  model.qk_rope_head_dim = 64;
  return model;
}

constexpr std::array kModels{
    grouped({.name = "llama-3.1-8b",
             .source = "meta-llama/Llama-3.1-8B",
             .layers = 32,
             .attention_heads = 32,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 8.03e9}),
    grouped({.name = "llama-3.1-70b",
             .source = "meta-llama/Llama-3.1-70B",
             .layers = 80,
             .attention_heads = 64,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 70.6e9}),
    grouped({.name = "llama-3.1-405b",
             .source = "meta-llama/Llama-3.1-405B",
             .layers = 126,
             .attention_heads = 128,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 405.9e9}),
    grouped({.name = "mistral-7b",
             .source = "mistralai/Mistral-7B-v0.3",
             .layers = 32,
             .attention_heads = 32,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 7.25e9}),
    grouped({.name = "mistral-large-2",
             .source = "mistralai/Mistral-Large-Instruct-2407",
             .layers = 88,
             .attention_heads = 96,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 122.6e9}),
    grouped({.name = "mixtral-8x22b",
             .source = "mistralai/Mixtral-8x22B-v0.1",
             .layers = 56,
             .attention_heads = 48,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 140.6e9,
             .active_parameter_count = 39e9}),
    grouped({.name = "qwen2.5-7b",
             .source = "Qwen/Qwen2.5-7B",
             .layers = 28,
             .attention_heads = 28,
             .kv_heads = 4,
             .head_dim = 128,
             .parameter_count = 7.62e9}),
    grouped({.name = "qwen2.5-32b",
             .source = "Qwen/Qwen2.5-32B",
             .layers = 64,
             .attention_heads = 40,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 32.8e9}),
    grouped({.name = "qwq-32b",
             .source = "Qwen/QwQ-32B",
             .layers = 64,
             .attention_heads = 40,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 32.8e9}),
    grouped({.name = "qwen2.5-72b",
             .source = "Qwen/Qwen2.5-72B",
             .layers = 80,
             .attention_heads = 64,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 72.7e9}),
    grouped({.name = "qwen3-8b",
             .source = "Qwen/Qwen3-8B",
             .layers = 36,
             .attention_heads = 32,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 8.19e9}),
    grouped({.name = "qwen3-14b",
             .source = "Qwen/Qwen3-14B",
             .layers = 40,
             .attention_heads = 40,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 14.8e9}),
    grouped({.name = "qwen3-32b",
             .source = "Qwen/Qwen3-32B",
             .layers = 64,
             .attention_heads = 64,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 32.8e9}),
    grouped({.name = "qwen3-30b-a3b",
             .source = "Qwen/Qwen3-30B-A3B",
             .layers = 48,
             .attention_heads = 32,
             .kv_heads = 4,
             .head_dim = 128,
             .parameter_count = 30.5e9,
             .active_parameter_count = 3.3e9}),
    grouped({.name = "qwen3-235b-a22b",
             .source = "Qwen/Qwen3-235B-A22B",
             .layers = 94,
             .attention_heads = 64,
             .kv_heads = 4,
             .head_dim = 128,
             .parameter_count = 235e9,
             .active_parameter_count = 22e9}),
    grouped({.name = "qwen3-coder-480b-a35b",
             .source = "Qwen/Qwen3-Coder-480B-A35B-Instruct",
             .layers = 62,
             .attention_heads = 96,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 480e9,
             .active_parameter_count = 35e9}),
    grouped({.name = "glm-4.5",
             .source = "zai-org/GLM-4.5",
             .layers = 92,
             .attention_heads = 96,
             .kv_heads = 8,
             .head_dim = 128,
             .parameter_count = 355e9,
             .active_parameter_count = 32e9}),
    grouped({.name = "gpt-oss-20b",
             .source = "openai/gpt-oss-20b",
             .layers = 24,
             .full_layers = 12,
             .attention_heads = 64,
             .kv_heads = 8,
             .head_dim = 64,
             .parameter_count = 20.9e9,
             .active_parameter_count = 3.6e9,
             .weight_bytes = 13.8e9}),
    grouped({.name = "gpt-oss-120b",
             .source = "openai/gpt-oss-120b",
             .layers = 36,
             .full_layers = 18,
             .attention_heads = 64,
             .kv_heads = 8,
             .head_dim = 64,
             .parameter_count = 116.8e9,
             .active_parameter_count = 5.1e9,
             .weight_bytes = 65e9}),
    latent({.name = "deepseek-v3",
            .source = "deepseek-ai/DeepSeek-V3",
            .layers = 61,
            .attention_heads = 128,
            .parameter_count = 671e9,
            .active_parameter_count = 37e9,
            .weight_bytes = 688.6e9}),
    latent({.name = "deepseek-r1",
            .source = "deepseek-ai/DeepSeek-R1",
            .layers = 61,
            .attention_heads = 128,
            .parameter_count = 671e9,
            .active_parameter_count = 37e9,
            .weight_bytes = 688.6e9}),
    latent({.name = "kimi-k2",
            .source = "moonshotai/Kimi-K2-Instruct",
            .layers = 61,
            .attention_heads = 64,
            .parameter_count = 1.04e12,
            .active_parameter_count = 32e9,
            .weight_bytes = 1.03e12}),
};

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const ModelGeometry> all_models() { return kModels; }

const ModelGeometry* find_model(std::string_view name) {
  for (const ModelGeometry& model : kModels) {
    if (same_word(model.name, name) || same_word(model.source, name)) return &model;
  }
  return nullptr;
}

std::uint64_t kv_bytes_per_token(const ModelGeometry& model) {
  const std::uint64_t per_layer = model.latent()
                                      ? model.kv_lora_rank + model.qk_rope_head_dim
                                      : std::uint64_t{2} * model.kv_heads * model.head_dim;
  return per_layer * model.full_layers * model.kv_element_bytes;
}

std::string kv_formula(const ModelGeometry& model) {
  const std::string windowed =
      model.full_layers == model.layers
          ? std::string()
          : fmt::format(" ({} more keep a sliding window)", model.layers - model.full_layers);
  if (model.latent()) {
    return fmt::format("{} layers x ({} + {}) x {} bytes = {}", model.full_layers,
                       model.kv_lora_rank, model.qk_rope_head_dim, model.kv_element_bytes,
                       kv_bytes_per_token(model));
  }
  return fmt::format("2 x {} layers{} x {} kv heads x {} x {} bytes = {}", model.full_layers,
                     windowed, model.kv_heads, model.head_dim, model.kv_element_bytes,
                     kv_bytes_per_token(model));
}

std::uint32_t kv_copies(const ModelGeometry& model, std::uint32_t tp) {
  return model.latent() ? tp : std::max(1U, tp / model.kv_heads);
}

double linear_flops_per_token(const ModelGeometry& model) {
  return 2 * model.active_parameter_count;
}

// Query times key, and weight times value: a multiply-add for each of their elements.
double attention_flops_per_pair(const ModelGeometry& model) {
  return 2.0 * model.full_layers * model.attention_heads * (model.head_dim + model.value_dim);
}

}  // namespace forebay::engine

// Model geometries: what a token costs in KV bytes and in arithmetic, from the fields of each
// model's Hugging Face config.
//
//   grouped-query attention: 2 (K and V) x layers x num_key_value_heads x head_dim x bytes
//   multi-head latent attention: layers x (kv_lora_rank + qk_rope_head_dim) x bytes
//
// Layers with a sliding window hold a constant amount, so only the others count per token.
// Units: bytes, tokens, floating-point operations (a multiply-add is two). Threads: constant data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace forebay::engine {

struct ModelGeometry {
  std::string_view name;              // as users write it: "llama-3.1-70b"
  std::string_view source;            // whose config.json the fields come from
  std::uint32_t layers = 0;           // num_hidden_layers
  std::uint32_t full_layers = 0;      // of them without a sliding window
  std::uint32_t attention_heads = 0;  // num_attention_heads
  std::uint32_t kv_heads = 0;         // num_key_value_heads; 0: latent attention
  std::uint32_t head_dim = 0;         // latent attention: qk_nope_head_dim + qk_rope_head_dim
  std::uint32_t value_dim = 0;        // v_head_dim
  std::uint32_t kv_lora_rank = 0;     // latent attention only
  std::uint32_t qk_rope_head_dim = 0;
  double parameter_count = 0;
  double active_parameter_count = 0;   // for one token; less than all in a mixture of experts
  double weight_bytes = 0;             // as usually served
  std::uint32_t kv_element_bytes = 2;  // bf16 and fp16; set 1 for an fp8 cache

  [[nodiscard]] bool latent() const { return kv_heads == 0; }
};

[[nodiscard]] std::span<const ModelGeometry> all_models();
// By name or by the repository in `source`, in any case; null when unknown.
[[nodiscard]] const ModelGeometry* find_model(std::string_view name);

[[nodiscard]] std::uint64_t kv_bytes_per_token(const ModelGeometry& model);
// "2 x 32 layers x 8 kv heads x 128 x 2 bytes = 131072"
[[nodiscard]] std::string kv_formula(const ModelGeometry& model);
// How many of `tp` cards hold the same KV: all of them for latent attention, those above the number
// of KV heads otherwise. A load reads it once and every such card receives it.
[[nodiscard]] std::uint32_t kv_copies(const ModelGeometry& model, std::uint32_t tp);

// For one token: what its weights cost, and what attention costs for each token before it.
[[nodiscard]] double linear_flops_per_token(const ModelGeometry& model);
[[nodiscard]] double attention_flops_per_pair(const ModelGeometry& model);

}  // namespace forebay::engine

// Accelerators: what one card can do, each figure with where it is from.
//
// Units: dense bf16 operations a second, bytes, bytes a second. Threads: constant data.
#pragma once

#include <span>
#include <string_view>

namespace forebay::engine {

struct Accelerator {
  std::string_view name;  // as users write it: "h100"
  double bf16_flops_per_second = 0;
  double hbm_bytes_per_second = 0;
  double hbm_bytes = 0;
  double link_bytes_per_second = 0;  // host to device, pinned memory, one card
  std::string_view source;           // of the first three
  std::string_view link_source;
};

[[nodiscard]] std::span<const Accelerator> all_accelerators();
// In any case; null when unknown.
[[nodiscard]] const Accelerator* find_accelerator(std::string_view name);

// Measured and published prefill rates of whole deployments: better than anything computed.
struct PublishedRate {
  std::string_view model;
  std::string_view accelerator;
  unsigned cards = 0;
  double prefill_tokens_per_second = 0;
  std::string_view source;
};
[[nodiscard]] std::span<const PublishedRate> published_rates();

}  // namespace forebay::engine

// The bytes of what a store's policies learned (docs/formats/flash-tier.md): key spaces in the
// order of their numbers, because models are told apart by these, then one state a tier.
//
// Pure: no I/O. Errors: kVersion, kCorrupt. Any bytes are answered; a state is proven by the policy
// that takes it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "store/store.h"

namespace forebay::store {

inline constexpr std::size_t kLearnedSpacesMax = 64;
inline constexpr std::size_t kPolicyNameBytesMax = 16;

// Strings and states are views: of what is encoded, or into what was decoded.
struct LearnedModel {
  Tier tier = Tier::kNone;
  std::string_view policy;  // which kind learned it
  std::span<const std::byte> state;
};
struct LearnedSpace {
  std::string_view tenant;
  std::string_view layout_fingerprint;
};
struct Learned {
  std::vector<LearnedSpace> spaces;
  std::vector<LearnedModel> models;
};

// Leaves out each model that goes beyond `bytes_max`, and of the spaces what is beyond
// kLearnedSpacesMax. Empty when not even the spaces fit.
struct EncodedLearning {
  std::vector<std::byte> bytes;
  std::size_t left_out_models = 0;
};
[[nodiscard]] EncodedLearning encode_learned(const Learned& learned, std::size_t bytes_max);
[[nodiscard]] Result<Learned> decode_learned(std::span<const std::byte> bytes);

}  // namespace forebay::store

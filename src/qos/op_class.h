// The classes of work on a device, in strict order of urgency.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace forebay::qos {

enum class OpClass : std::uint8_t { kDemand, kPrefetch, kWriteBack, kGc, kCheckpoint };
inline constexpr std::size_t kOpClassCount = 5;
inline constexpr std::array<OpClass, kOpClassCount> kOpClasses{
    OpClass::kDemand, OpClass::kPrefetch, OpClass::kWriteBack, OpClass::kGc, OpClass::kCheckpoint};

[[nodiscard]] constexpr const char* to_string(OpClass op_class) {
  constexpr std::array<const char*, kOpClassCount> kNames{"demand", "prefetch", "write_back", "gc",
                                                          "checkpoint"};
  return kNames[static_cast<std::size_t>(op_class)];
}

}  // namespace forebay::qos

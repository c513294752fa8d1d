// The specs of a sensitivity table: the same test with one input changed, small and in virtual
// time.
//
// Each value is applied as --set would apply it, so its mistakes are told like those of the spec.
// Where every flash device is throttled, bytes are scaled down further: times do not depend on
// them, memory does. Pure but for reading that the workload's file exists.
#pragma once

#include <vector>

#include "joint/spec.h"

namespace forebay::joint {

struct VariantSpec {
  report::Variant variant;
  Spec spec;
};

// Smallest block that scaling further down leaves, so that per-block costs keep their proportion.
inline constexpr std::uint64_t kVariantBlockBytesMin = 256 * 1024;

[[nodiscard]] std::vector<VariantSpec> variant_specs(const Spec& spec, const ReadSpec& source,
                                                     Diagnostics& mistakes);

}  // namespace forebay::joint

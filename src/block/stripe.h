// A stripe: one device over several, unit by unit, so that one large request uses all of them.
//
// Unit k lies on part k mod n. A request that spans units is cut and its parts run at once; it is
// done when all are, and fails with the first failure. Geometry: the smallest part times n, the
// largest alignment. Lossless only while every part is there: the store treats a lost part as a
// gone device.
#pragma once

#include <memory>
#include <vector>

#include "block/device.h"

namespace forebay::block {

// kInvalid: fewer than two parts, a unit no multiple of the alignment, a part smaller than a unit.
[[nodiscard]] Result<std::unique_ptr<Device>> make_stripe(
    std::vector<std::unique_ptr<Device>> parts, std::uint64_t unit_bytes);

}  // namespace forebay::block

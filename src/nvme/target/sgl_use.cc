#include "nvme/target/sgl_use.h"

namespace forebay::nvme::target {
namespace {

SglUse refused(StatusCode code) { return {.status = refuse(code)}; }

}  // namespace

DataDirection data_direction(const Sqe& sqe) {
  const unsigned bits = (sqe.opcode == kFabricsOpcode ? sqe.fabrics_type() : sqe.opcode) & 3U;
  if (bits == 1) return DataDirection::kFromHost;
  return bits == 2 ? DataDirection::kToHost : DataDirection::kNone;
}

SglUse check_sgl(const Sqe& sqe, std::uint32_t capsule_data_bytes, std::uint32_t bytes_max) {
  // Fabrics has no other descriptors than SGLs.
  if ((sqe.flags & kFlagsPsdt) != kFlagsSgl) return refused(StatusCode::kInvalidField);
  SglUse use{.direction = data_direction(sqe)};
  if (use.direction == DataDirection::kNone) {
    return capsule_data_bytes == 0 ? use : refused(StatusCode::kInvalidField);
  }
  use.data_bytes = sqe.sgl.length_bytes;
  use.in_capsule = sqe.sgl.type == kSglInCapsule;
  if (use.in_capsule) {
    if (use.direction == DataDirection::kToHost) return refused(StatusCode::kInvalidField);
    if (sqe.sgl.address != 0 || use.data_bytes != capsule_data_bytes) {
      return refused(StatusCode::kSglOffsetInvalid);
    }
    return use;
  }
  if (sqe.sgl.type != kSglTransport) return refused(StatusCode::kSglTypeInvalid);
  if (capsule_data_bytes != 0) return refused(StatusCode::kInvalidField);
  if (use.data_bytes > bytes_max) return refused(StatusCode::kSglLengthInvalid);
  return use;
}

}  // namespace forebay::nvme::target

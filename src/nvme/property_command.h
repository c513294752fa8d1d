// The commands that read and set a controller's properties (Base Specification 2.0, 6.5, 6.6).
// Pure.
#pragma once

#include <cstdint>

#include "nvme/command.h"
#include "nvme/opcode.h"

namespace forebay::nvme {

[[nodiscard]] inline Sqe property_command(FabricsType type, const PropertyFields& fields) {
  Sqe sqe;
  sqe.opcode = kFabricsOpcode;
  sqe.namespace_id = static_cast<std::uint32_t>(type);
  set_fields(sqe, fields);
  return sqe;
}

enum class PropertySize : std::uint8_t { k4Bytes = 0, k8Bytes = 1 };

[[nodiscard]] inline Sqe property_get(Property property,
                                      PropertySize size = PropertySize::k4Bytes) {
  return property_command(FabricsType::kPropertyGet,
                          {.attributes = static_cast<std::uint8_t>(size),
                           .offset = static_cast<std::uint32_t>(property)});
}

[[nodiscard]] inline Sqe property_set(Property property, std::uint64_t value) {
  return property_command(FabricsType::kPropertySet,
                          {.offset = static_cast<std::uint32_t>(property), .value = value});
}

}  // namespace forebay::nvme

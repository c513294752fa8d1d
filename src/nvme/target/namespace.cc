#include "nvme/target/namespace.h"

#include <fmt/core.h>

namespace forebay::nvme::target {

Uuid make_uuid(std::string_view nqn, std::uint32_t namespace_id) {
  return uuid_of(fmt::format("{}\n{}", nqn, namespace_id));
}

}  // namespace forebay::nvme::target

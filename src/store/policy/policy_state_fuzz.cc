// Any bytes as a policy's saved state: refused, or taken and saved again in a form that is taken.
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "store/policy/reuse_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using forebay::store::policy::ReuseModel;
  ReuseModel model;
  if (!model.restore(std::as_bytes(std::span(data, size)))) return 0;
  const auto saved = model.save();
  ReuseModel again;
  FOREBAY_CHECK(again.restore(saved).has_value());
  FOREBAY_CHECK(again.save() == saved);
  return 0;
}

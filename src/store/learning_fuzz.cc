// Any bytes as a store's learning, as they come from flash: refused, or taken, and what was taken
// comes back the same from being written again; its states go to a policy, which may refuse.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "store/learning_format.h"
#include "store/policy/reuse_model.h"

namespace forebay::store {
namespace {

void expect_same(const Learned& a, const Learned& b) {
  FOREBAY_CHECK(a.spaces.size() == b.spaces.size() && a.models.size() == b.models.size());
  for (std::size_t i = 0; i < a.spaces.size(); ++i) {
    FOREBAY_CHECK(a.spaces[i].tenant == b.spaces[i].tenant);
    FOREBAY_CHECK(a.spaces[i].layout_fingerprint == b.spaces[i].layout_fingerprint);
  }
  for (std::size_t i = 0; i < a.models.size(); ++i) {
    FOREBAY_CHECK(a.models[i].tier == b.models[i].tier);
    FOREBAY_CHECK(a.models[i].policy == b.models[i].policy);
    FOREBAY_CHECK(std::ranges::equal(a.models[i].state, b.models[i].state));
  }
}

void run_one(std::span<const std::byte> bytes) {
  const auto learned = decode_learned(bytes);
  if (!learned) return;
  const EncodedLearning again = encode_learned(*learned, bytes.size());
  FOREBAY_CHECK(again.left_out_models == 0 && again.bytes.size() == bytes.size());
  expect_same(decode_learned(again.bytes).value(), *learned);
  if (bytes.size() > 1) {
    const EncodedLearning shorter = encode_learned(*learned, bytes.size() - 1);
    FOREBAY_CHECK(shorter.bytes.size() < bytes.size());
    FOREBAY_CHECK(shorter.bytes.empty() || decode_learned(shorter.bytes).has_value());
  }
  for (const LearnedModel& model : learned->models) {
    policy::ReuseModel policy;
    if (policy.restore(model.state)) FOREBAY_CHECK(!policy.save().empty());
  }
}

}  // namespace
}  // namespace forebay::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forebay::store::run_one(std::as_bytes(std::span(data, size)));
  return 0;
}

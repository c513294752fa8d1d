#include "store/policy/policy.h"

#include <array>

#include "store/policy/chain_value.h"
#include "store/policy/gdsf.h"
#include "store/policy/lru.h"
#include "store/policy/s3fifo.h"

namespace forebay::store::policy {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(const PolicyOptions&);
};

// A new policy is a file pair and a line here.
constexpr std::array<Row, 4> kPolicies{{
    {"lru",
     [](const PolicyOptions&) -> std::unique_ptr<Policy> { return std::make_unique<Lru>(); }},
    {"s3fifo",
     [](const PolicyOptions& options) -> std::unique_ptr<Policy> {
       return std::make_unique<S3Fifo>(options);
     }},
    {"gdsf",
     [](const PolicyOptions&) -> std::unique_ptr<Policy> { return std::make_unique<Gdsf>(); }},
    {"forebay",
     [](const PolicyOptions& options) -> std::unique_ptr<Policy> {
       return std::make_unique<ChainValue>(options);
     }},
}};

constexpr auto kNames = [] {
  std::array<std::string_view, kPolicies.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPolicies[i].name;
  return names;
}();

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view name, const PolicyOptions& options) {
  for (const Row& row : kPolicies) {
    if (row.name == name) return row.make(options);
  }
  return nullptr;
}

std::span<const std::string_view> policy_names() { return kNames; }

}  // namespace forebay::store::policy

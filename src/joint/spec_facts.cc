#include "joint/spec_facts.h"

#include <fmt/core.h>

#include "joint/workload_setup.h"

namespace forebay::joint {
namespace {

class Comparer {
 public:
  template <class T>
  void same(std::string_view fact, const T& said, std::string_view key, const T& wanted) {
    if (said == wanted) return;
    lines_.push_back(
        fmt::format("run.json: `{}` is {}, spec.toml has `{}` = {}", fact, said, key, wanted));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> compare_with_spec(const report::RunFacts& facts, const Spec& spec) {
  Comparer compare;
  compare.same("name", facts.name, "run.name", spec.run.name);
  compare.same("seed", facts.seed, "run.seed", spec.run.seed);
  compare.same("rounds_wanted", facts.rounds_wanted, "run.rounds", spec.run.rounds);
  compare.same("scale", facts.scale, "run.scale", spec.run.scale);
  compare.same("virtual_time", facts.virtual_time, "run.virtual", spec.run.virtual_time);
  compare.same("candidate", facts.candidate, "run.candidate", spec.run.candidate);
  compare.same("lag_ms_max", facts.thresholds.lag_ms_max, "run.lag_ms_max", spec.run.lag_ms_max);
  compare.same("step_lag_share_max", facts.thresholds.step_lag_share_max, "run.step_lag_share_max",
               spec.run.step_lag_share_max);
  compare.same("workload_varies", facts.workload_varies, "workload.kind is generated",
               varies_by_round(spec));
  compare.same("arms", facts.arms.size(), "[[arm]] count", spec.arms.size());
  for (std::size_t i = 0; i < std::min(facts.arms.size(), spec.arms.size()); ++i) {
    compare.same(fmt::format("arms.{}.name", i), facts.arms[i].name, fmt::format("arm.{}.name", i),
                 spec.arms[i].name);
    compare.same(fmt::format("arms.{}.kind", i), facts.arms[i].kind, fmt::format("arm.{}.kind", i),
                 spec.arms[i].kind);
  }
  compare.same("published", facts.published.size(), "[[published]] count", spec.published.size());
  return compare.take();
}

}  // namespace forebay::joint

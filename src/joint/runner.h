// The joint test: every arm in every round, logged as it goes, summed up at the end.
//
//   read_spec -> run_joint -> a result folder with its report
//
// A stop (a signal sets the flag) ends the running cell within a second or two and leaves a valid
// report that says so. Blocks for the length of the run. Threads: the caller's. Errors: Diagnostics
// for what the user can mend before anything runs; RunOutcome::failure for what broke on the way.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "core/clock.h"
#include "joint/spec.h"
#include "report/summary.h"
#include "store/store.h"

namespace forebay::joint {

struct Progress {
  std::size_t cells_done = 0;
  std::size_t cells_total = 0;
  std::string arm;
  std::uint64_t round = 0;
  std::size_t requests_done = 0;
  std::size_t requests_total = 0;
  Nanos elapsed{0};
  Nanos left{0};  // estimated
};

struct JointOptions {
  ReadSpec source;     // of `spec`; sensitivity re-reads it with one key changed
  std::string output;  // "": as the spec says
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)> on_progress;  // may be empty
};

struct RunOutcome {
  std::string folder;
  std::string taken;  // the folder that was wanted and held something already; "": that one
  report::RunFacts facts;
  report::Summary summary;
  std::string failure;                               // the folder could not be written; "": it was
  std::optional<store::StoreStats> candidate_store;  // at the end of its last round
};

[[nodiscard]] std::optional<RunOutcome> run_joint(const Spec& spec, const JointOptions& options,
                                                  Diagnostics& mistakes);

}  // namespace forebay::joint

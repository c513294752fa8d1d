// The requests of a spec: a trace's slice, a generated workload, or a batch.
//
// Blocking: reads the trace. Memory: the requests of the slice. Errors: Diagnostics. Threads: one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joint/spec.h"
#include "workload/request.h"

namespace forebay::joint {

struct LoadedWorkload {
  std::vector<workload::Request> requests;  // in order of arrival
  std::uint32_t block_tokens = 0;           // 0: no block identities
  std::uint64_t working_set_tokens = 0;     // inside distinct blocks
  std::string description;                  // one line
  std::vector<std::string> notes;           // what was changed or found, for the report
};

// A generated workload is another one in every round (the same for all arms of the round), so that
// rounds are independent; a trace or a batch is the same in all.
[[nodiscard]] bool varies_by_round(const Spec& spec);
[[nodiscard]] std::optional<LoadedWorkload> load_workload(const Spec& spec,
                                                          const std::string& spec_file,
                                                          std::uint64_t round,
                                                          Diagnostics& mistakes);

}  // namespace forebay::joint

// One request of a workload: the superset that every trace format is read into.
//
// Times are nanoseconds from the start of the trace. Block ids name prefix chains: two requests
// share a leading run of ids exactly when they share that prefix. Ids that a format scopes to a
// session (Weka) are mixed with the session, so ids are global everywhere above the readers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::workload {

struct Request {
  std::int64_t arrival_ns = 0;  // intended start
  std::uint64_t index = 0;      // position in the trace as read, from 0
  std::uint64_t session = 0;    // 0: none
  std::uint32_t turn = 0;       // within the session, from 0
  std::int64_t parent = -1;     // index of the request that must end first; -1: none
  std::int64_t think_ns = 0;    // wait after the parent ended, before this one starts
  std::int64_t api_ns = 0;      // how long the recorded service took; 0: not recorded
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint32_t block_tokens = 0;  // tokens per id; 0: the format has no block identities
  // Of the leading blocks, in order: ceil(input_tokens / block_tokens) of them; one fewer where the
  // format names full blocks only (Weka) and the last is partial; or none.
  std::vector<std::uint64_t> block_ids;
  std::string model;       // "" when the trace names none
  std::uint64_t line = 0;  // where it stood in the file, for messages
};

}  // namespace forebay::workload

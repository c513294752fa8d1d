// A trace's description, as a table for people and as JSON with the names of workload::Description.
#pragma once

#include <string>

#include "workload/describe.h"

namespace forebay::cli {

[[nodiscard]] std::string description_table(const workload::Description& trace);
[[nodiscard]] std::string description_json(const workload::Description& trace);

}  // namespace forebay::cli

// What no single key can tell: contradictions, things that are missing, names that do not exist.
//
// Looks at the file system for the workload's file only. Threads: one owner.
#pragma once

#include "config/places.h"
#include "joint/spec.h"

namespace forebay::joint {

// Fills what follows from the rest (the candidate's name), and notes each mistake at the line of
// the key that it is about. `files_needed`: the workload's file must be there.
void check_spec(Spec& spec, const config::Places& places, bool files_needed, Diagnostics& mistakes);

}  // namespace forebay::joint

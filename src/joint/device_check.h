// Whether a disk that a specification names can be what its arm runs on: said before the first
// cell, not by an arm that fails in it.
//
// Blocking: opens the device and reads two pages. Threads: one owner.
#pragma once

#include "core/diagnostics.h"
#include "joint/spec.h"

namespace forebay::joint {

// Nothing where no disk is named, or none is touched (virtual time). `spec_file`: where mistakes
// are said to stand.
void check_device(const Spec& spec, const std::string& spec_file, Diagnostics& mistakes);

}  // namespace forebay::joint

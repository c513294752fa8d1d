// Every key of a spec, once: name, type, range, meaning. A reader, a writer and the document walk
// the same functions.
//
// visit() calls the visitor for each key of a section in the order of the document. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "joint/spec.h"

namespace forebay::joint {

using config::CountRange;
using config::FieldVisitor;
using config::Key;
using config::NumberRange;

void visit(FieldVisitor& visitor, RunSpec& run);
// The keys of its kind; of all kinds when the kind is "".
void visit(FieldVisitor& visitor, WorkloadSpec& workload);
void visit(FieldVisitor& visitor, EngineSpec& engine);
void visit(FieldVisitor& visitor, StorageSpec& storage);
void visit(FieldVisitor& visitor, ArmSpec& arm);
void visit(FieldVisitor& visitor, report::PublishedRow& row);
void visit(FieldVisitor& visitor, report::Assumption& item);
void visit(FieldVisitor& visitor, SensitivitySpec& item);

[[nodiscard]] std::span<const std::string_view> workload_kinds();
[[nodiscard]] std::span<const std::string_view> arm_kinds();

}  // namespace forebay::joint

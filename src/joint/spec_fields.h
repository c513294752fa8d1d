// Every key of a spec, once: name, type, range, meaning. A reader, a writer and the document walk
// the same functions.
//
// visit() calls the visitor for each key of a section in the order of the document. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joint/spec.h"

namespace forebay::joint {

struct Key {
  std::string_view name;
  std::string_view help;
};

struct CountRange {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max() / 2;
};
struct NumberRange {
  double min = 0;
  double max = 1e18;
};

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void text(const Key& key, std::string& value) = 0;
  virtual void word(const Key& key, std::string& value,
                    std::span<const std::string_view> allowed) = 0;
  virtual void count(const Key& key, std::uint64_t& value, CountRange range) = 0;
  // An integer or a text such as "4GiB"; a rate in bytes likewise.
  virtual void bytes(const Key& key, std::uint64_t& value, CountRange range) = 0;
  virtual void rate(const Key& key, double& value) = 0;
  virtual void number(const Key& key, double& value, NumberRange range) = 0;
  virtual void toggle(const Key& key, bool& value) = 0;
  virtual void texts(const Key& key, std::vector<std::string>& values) = 0;
  virtual void maybe(const Key& key, std::optional<double>& value) = 0;
};

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

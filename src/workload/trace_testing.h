// What the trace tests share: reading text as a trace, and finding the public traces.
//
// For *_test.cc only.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "workload/formats.h"
#include "workload/reader.h"

namespace forebay::workload {

struct ReadText {
  Trace trace;
  Diagnostics diagnostics;
};

// Reads `text` as a trace; an Error fails the test.
inline ReadText read_text(std::string text, const ReadOptions& options = {}) {
  ReadText result;
  auto reader = open_trace_bytes(std::move(text), options, result.diagnostics);
  EXPECT_TRUE(reader.has_value()) << result.diagnostics.text();
  if (!reader) return result;
  auto trace = read_all(**reader);
  EXPECT_TRUE(trace.has_value());
  if (trace) result.trace = std::move(*trace);
  return result;
}

inline std::string joined_notes(const Trace& trace) {
  std::string text;
  for (const std::string& note : trace.notes) text += note + "\n";
  return text;
}

// "" when the public traces are not beside this checkout.
inline std::string public_trace(std::string_view name) {
  const std::filesystem::path path =
      std::filesystem::path(FOREBAY_SOURCE_DIR) / "../shared/traces" / name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

}  // namespace forebay::workload

// Reports why, so that a skipped test never looks like a passed one.
#define FOREBAY_NEEDS_TRACE(variable, name)                             \
  const std::string variable = ::forebay::workload::public_trace(name); \
  if ((variable).empty()) GTEST_SKIP() << "../shared/traces/" << (name) << " is not there"

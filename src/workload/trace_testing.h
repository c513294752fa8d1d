// What the trace tests share: reading text as a trace, and finding the public traces.
//
// For *_test.cc only.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// The message and hint of the only Diagnostic there should be.
inline std::string only_mistake(const ReadText& read) {
  EXPECT_EQ(read.diagnostics.count(), 1U) << read.diagnostics.text();
  EXPECT_EQ(read.trace.skipped_count, 1U);
  return read.diagnostics.text();
}

inline std::string joined_notes(const Trace& trace) {
  std::string text;
  for (const std::string& note : trace.notes) text += note + "\n";
  return text;
}

// A ustar archive of small files, as tar(1) lays them out.
inline std::string tar_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string archive;
  for (const auto& [name, content] : files) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) {
      header.replace(at, text.size(), text);
    };
    put(0, name);
    put(100, "0000644");
    put(124, fmt::format("{:011o}", content.size()));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar");
    put(263, "00");
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum) + std::string(1, '\0') + " ");
    archive += header + content;
    archive.resize((archive.size() + 511) / 512 * 512);
  }
  return archive + std::string(1024, '\0');
}

inline std::string zstd_of(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
  return packed;
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

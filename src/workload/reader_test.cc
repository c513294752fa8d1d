#include "workload/reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

std::string mooncake_line(int stamp_ms) {
  return fmt::format(
      R"({{"timestamp": {}, "input_length": 4, "output_length": 1, "hash_ids": [1]}})"
      "\n",
      stamp_ms);
}

TEST(TraceReader, WhatIsNoTraceIsRefusedWithTheKnownFormats) {
  for (const std::string text : {"hello\nworld\n", "", "{}", "\x28\xb5\x2f\xfd"}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(open_trace_bytes(text, {}, diagnostics).has_value()) << text;
  }
  Diagnostics diagnostics;
  ASSERT_FALSE(open_trace_bytes("hello", {}, diagnostics).has_value());
  EXPECT_NE(diagnostics.text().find("mooncake azure"), std::string::npos) << diagnostics.text();
}

// Each is named for what it is, whatever --format says, with what makes it readable.
TEST(TraceReader, PackingAndTextThatAreNotReadAreNamed) {
  const auto told = [](std::string_view bytes) {
    Diagnostics diagnostics;
    ReadOptions options;
    options.format = "mooncake";
    EXPECT_FALSE(open_trace_bytes(std::string(bytes), options, diagnostics).has_value());
    return diagnostics.text();
  };
  EXPECT_EQ(told({"\xfd"
                  "7zXZ\0",
                  6}),
            "trace: is packed with xz\n"
            "  hint: unpack it on the way: xz -dc trace | forebay trace describe -\n");
  EXPECT_NE(told("BZh9").find("bzip2 -dc"), std::string::npos);
  EXPECT_NE(told("PK\x03\x04").find("unzip -p"), std::string::npos);
  EXPECT_NE(told({"\xff\xfe{\0", 4}).find("is UTF-16 text"), std::string::npos);
  EXPECT_NE(told({"\xfe\xff\0{", 4}).find("iconv -f UTF-16"), std::string::npos);
}

TEST(TraceReader, AByteOrderMarkIsPassedOverInEveryFormat) {
  const std::string mark = "\xef\xbb\xbf";
  const std::string ours =
      "{\"forebay_trace\":1}\n{\"arrival_ns\":0,\"input_tokens\":1,"
      "\"output_tokens\":1}\n";
  const std::string azure =
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 18:15:46.6805900,374,44\n";
  for (const std::string& text : {mooncake_line(0), ours, azure}) {
    const auto read = read_text(mark + text);
    EXPECT_EQ(read.trace.requests.size(), 1U) << text;
    EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  }
  EXPECT_EQ(read_text(zstd_of(mark + ours)).trace.requests.size(), 1U);
}

TEST(TraceReader, AFormatNameIsCheckedAndNearOnesSuggested) {
  Diagnostics diagnostics;
  ReadOptions options;
  options.format = "moncake";
  EXPECT_FALSE(open_trace_bytes(mooncake_line(0), options, diagnostics).has_value());
  EXPECT_NE(diagnostics.text().find("did you mean `mooncake`?"), std::string::npos);
}

TEST(TraceReader, EveryFormatInTheTableOpensByName) {
  for (const std::string_view name : trace_format_names()) {
    ASSERT_NE(find_trace_format(name), nullptr);
    EXPECT_EQ(find_trace_format(name)->name, name);
  }
}

TEST(TraceReader, AMissingFileIsADiagnosticWithItsPath) {
  Diagnostics diagnostics;
  const auto reader = open_trace("/nonexistent/x.jsonl", {}, diagnostics);
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, Errc::kNotFound);
  EXPECT_EQ(diagnostics.kept()[0].place, "/nonexistent/x.jsonl");
}

TEST(TraceReader, AFolderIsRefusedByFormatsOfOneFile) {
  Diagnostics diagnostics;
  ReadOptions options;
  options.format = "azure";
  EXPECT_FALSE(open_trace(testing::TempDir(), options, diagnostics).has_value());
  EXPECT_NE(diagnostics.text().find("is a file, not a folder"), std::string::npos);
}

TEST(TraceReader, ALineBeyondTheLimitIsSkippedWithItsNumber) {
  ReadOptions options;
  options.line_bytes_max = 200;
  const auto read =
      read_text(mooncake_line(1) + std::string(300, 'x') + "\n" + mooncake_line(2), options);
  EXPECT_NE(only_mistake(read).find("trace:2: line is longer than 200 bytes"), std::string::npos);
  EXPECT_EQ(read.trace.requests.size(), 2U);
}

TEST(TraceReader, TinyBlocksAreRefused) {
  Diagnostics diagnostics;
  ReadOptions options;
  options.block_tokens = 1;
  EXPECT_FALSE(open_trace_bytes(mooncake_line(0), options, diagnostics).has_value());
}

TEST(ReadAll, SortsByArrivalAndParentsFollow) {
  const auto read = read_text(
      "{\"forebay_trace\":1}\n"
      R"({"arrival_ns":50,"input_tokens":1,"output_tokens":1})"
      "\n"
      R"({"arrival_ns":60,"input_tokens":2,"output_tokens":1,"parent":0})"
      "\n"
      R"({"arrival_ns":10,"input_tokens":3,"output_tokens":1})"
      "\n"
      R"({"arrival_ns":5,"input_tokens":4,"output_tokens":1,"parent":0})"
      "\n");
  ASSERT_EQ(read.trace.requests.size(), 4U);
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < 4; ++i) {
    const Request& request = read.trace.requests[i];
    order.push_back(request.input_tokens);
    EXPECT_EQ(request.index, i);
  }
  // The last one waits for a request at 50: it is not due before.
  EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 1, 4, 2}));
  EXPECT_EQ(read.trace.requests[2].arrival_ns, 50);
  EXPECT_EQ(read.trace.requests[2].parent, 1);
  EXPECT_EQ(read.trace.requests[3].parent, 1);
  EXPECT_NE(joined_notes(read.trace).find("stand behind a later one"), std::string::npos);
}

TEST(ReadAll, StopsAtItsLimitsAndSaysSo) {
  Diagnostics diagnostics;
  std::string text;
  for (int i = 0; i < 100; ++i) text += mooncake_line(i);
  for (const ReadLimits limits :
       {ReadLimits{.request_count_max = 10}, ReadLimits{.block_id_count_max = 10}}) {
    auto reader = open_trace_bytes(text, {}, diagnostics);
    ASSERT_TRUE(reader.has_value());
    const auto trace = read_all(**reader, limits);
    ASSERT_TRUE(trace.has_value());
    EXPECT_EQ(trace->requests.size(), 10U);
    EXPECT_NE(joined_notes(*trace).find("only the first 10 requests"), std::string::npos);
  }
}

TEST(ReadAll, ACutArchiveIsAnErrorNotAShortTrace) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += mooncake_line(i * 7919);
  const std::string packed = zstd_of(text);
  Diagnostics diagnostics;
  auto reader = open_trace_bytes(packed.substr(0, packed.size() - 20), {}, diagnostics);
  ASSERT_TRUE(reader.has_value());
  const auto trace = read_all(**reader);
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace forebay::workload

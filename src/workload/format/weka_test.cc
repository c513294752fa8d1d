#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

// Ids of `tokens` tokens in blocks of 64, from `first` on.
std::string entry(double time_s, int tokens, int first, std::string_view more = "") {
  std::string ids;
  for (int i = 0; i < tokens / 64; ++i) ids += fmt::format("{}{}", i == 0 ? "" : ",", first + i);
  return fmt::format(R"({{"t":{},"type":"n","model":"m","in":{},"out":5,"hash_ids":[{}]{}}})",
                     time_s, tokens, ids, more);
}

std::string session(std::string_view id, std::string_view entries,
                    std::string_view scope = "local") {
  return fmt::format(R"({{"id":"{}","models":["m"],"block_size":64,"hash_id_scope":"{}",)"
                     R"("tool_tokens":1,"system_tokens":1,"requests":[{}]}})",
                     id, scope, entries);
}

TEST(Weka, ThinkAndServiceTimesBecomeParentAndWait) {
  const auto read = read_text(session(
      "a", entry(0, 130, 1, R"(,"api_time":2.5,"think_time":0)") + "," +
               entry(10, 200, 1, R"(,"api_time":1,"think_time":7.25)") + "," + entry(30, 200, 1)));
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.format, "weka");
  ASSERT_EQ(read.trace.requests.size(), 3U);
  const auto& requests = read.trace.requests;
  EXPECT_EQ(requests[0].parent, -1);
  EXPECT_EQ(requests[0].api_ns, 2'500'000'000);
  EXPECT_EQ(requests[1].parent, 0);
  EXPECT_EQ(requests[1].think_ns, 7'250'000'000);
  EXPECT_EQ(requests[2].think_ns, 19'000'000'000);  // not recorded: from the end of the one before
  EXPECT_EQ(requests[2].arrival_ns, 30'000'000'000);
  EXPECT_EQ(requests[0].block_tokens, 64U);
  EXPECT_EQ(requests[0].block_ids.size(), 2U);  // the partial third block has no id
  EXPECT_EQ(requests[0].block_ids[1], requests[1].block_ids[1]);
}

TEST(Weka, ASubAgentIsASessionStartedByTheRequestBeforeIt) {
  const std::string agent =
      fmt::format(R"({{"t":5,"type":"subagent","agent_id":"x","requests":[{},{}]}})",
                  entry(0, 64, 100), entry(2, 128, 100));
  const auto read = read_text(
      session("a", entry(0, 64, 1, R"(,"api_time":3)") + "," + agent + "," + entry(6, 64, 1)));
  ASSERT_EQ(read.trace.requests.size(), 4U);
  const auto& requests = read.trace.requests;
  EXPECT_EQ(requests[1].arrival_ns, 5'000'000'000);
  EXPECT_EQ(requests[1].parent, 0);
  EXPECT_EQ(requests[1].think_ns, 2'000'000'000);
  EXPECT_EQ(requests[1].turn, 0U);
  EXPECT_NE(requests[1].session, requests[0].session);
  EXPECT_EQ(requests[2].parent, 0);  // the main thread goes on at 6 s
  EXPECT_EQ(requests[2].session, requests[0].session);
  EXPECT_EQ(requests[3].arrival_ns, 7'000'000'000);
  EXPECT_EQ(requests[3].parent, 1);
  EXPECT_EQ(requests[3].session, requests[1].session);
}

TEST(Weka, LocalIdsOfTwoSessionsNeverMeetGlobalOnesDo) {
  for (const std::string_view scope : {"local", "global"}) {
    const auto read = read_text(tar_of({{"s/1.json", session("a", entry(0, 128, 1), scope)},
                                        {"s/2.json", session("a", entry(0, 128, 1), scope)}}));
    ASSERT_EQ(read.trace.requests.size(), 2U);
    EXPECT_EQ(read.trace.requests[0].block_ids == read.trace.requests[1].block_ids,
              scope == "global");
    EXPECT_NE(read.trace.requests[0].session, read.trace.requests[1].session);
  }
}

TEST(Weka, FolderTarAndPackedTarAreTheSameTrace) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"1.json", session("a", entry(0, 128, 1) + "," + entry(9, 192, 1))},
      {"2.json", session("b", entry(0, 64, 7))}};
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "weka_sessions";
  std::filesystem::create_directories(folder);
  for (const auto& [name, content] : files) std::ofstream(folder / name) << content;
  std::ofstream(folder / "notes.txt") << "not a session";
  Diagnostics diagnostics;
  const auto from_folder = read_all(folder.string(), {}, diagnostics);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(from_folder.has_value()) << diagnostics.text();
  ASSERT_EQ(from_folder->requests.size(), 3U);
  for (const std::string& archive : {tar_of(files), zstd_of(tar_of(files))}) {
    const auto read = read_text(archive);
    ASSERT_EQ(read.trace.requests.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(read.trace.requests[i].arrival_ns, from_folder->requests[i].arrival_ns);
      EXPECT_EQ(read.trace.requests[i].block_ids, from_folder->requests[i].block_ids);
      EXPECT_EQ(read.trace.requests[i].session, from_folder->requests[i].session);
    }
  }
}

TEST(Weka, AFalseRequestIsNamedAndTheThreadGoesOn) {
  const auto read = read_text(
      session("a", entry(0, 64, 1) + R"(,{"t":1,"type":"n","in":640,"out":1,"hash_ids":[1]},)" +
                       entry(2, 64, 1)));
  const std::string mistake = only_mistake(read);
  EXPECT_NE(mistake.find("requests[1]: 1 hash_ids for 640 input tokens"), std::string::npos)
      << mistake;
  ASSERT_EQ(read.trace.requests.size(), 2U);
  EXPECT_EQ(read.trace.requests[1].parent, 0);
}

TEST(Weka, AFalseSessionIsNamedAndTheNextIsRead) {
  const auto read =
      read_text(tar_of({{"s/1.json", "{\"id\": "}, {"s/2.json", session("a", entry(0, 64, 1))}}));
  EXPECT_NE(only_mistake(read).find("trace/s/1.json: not JSON"), std::string::npos);
  EXPECT_EQ(read.trace.requests.size(), 1U);
}

TEST(Weka, ASessionLargerThanAllowedIsPassedOver) {
  ReadOptions options;
  options.document_bytes_max = 4 << 20;
  const std::string large(5 << 20, ' ');
  const auto read =
      read_text(tar_of({{"1.json", large}, {"2.json", session("a", entry(0, 64, 1))}}), options);
  EXPECT_NE(only_mistake(read).find("larger than 4194304 bytes"), std::string::npos);
  EXPECT_EQ(read.trace.requests.size(), 1U);
}

TEST(Weka, AgentsInsideAgentsAreFollowedToALimit) {
  std::string inner = entry(0, 64, 1);
  for (int depth = 0; depth < 12; ++depth) {
    inner = fmt::format(R"({{"t":1,"type":"subagent","requests":[{}]}})", inner);
  }
  const auto read = read_text(session("a", entry(0, 64, 1) + "," + inner));
  EXPECT_NE(only_mistake(read).find("nested too deep"), std::string::npos);
}

}  // namespace
}  // namespace forebay::workload

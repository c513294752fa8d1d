#include "workload/writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/bytes.h"
#include "core/rng.h"
#include "workload/row_reader.h"
#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

bool same(const Request& a, const Request& b) {
  return a.arrival_ns == b.arrival_ns && a.index == b.index && a.session == b.session &&
         a.turn == b.turn && a.parent == b.parent && a.think_ns == b.think_ns &&
         a.api_ns == b.api_ns && a.input_tokens == b.input_tokens &&
         a.output_tokens == b.output_tokens && a.block_tokens == b.block_tokens &&
         a.block_ids == b.block_ids && a.model == b.model;
}

std::string written(std::string_view format, const std::vector<Request>& requests) {
  std::string bytes;
  const auto writer =
      find_trace_format(format)->create(memory_sink(&bytes), {.origin = "a \"test\""});
  std::string why;
  for (const Request& request : requests) EXPECT_TRUE(writer->write(request, why)) << why;
  EXPECT_TRUE(writer->close());
  return bytes;
}

// Any request that a trace can hold, in order of arrival so that reading does not reorder them.
std::vector<Request> any_requests(bool mooncake) {
  std::vector<Request> requests(*rc::gen::inRange<std::size_t>(0, 20));
  std::int64_t now_ns = 0;
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Request& request = requests[i];
    now_ns += *rc::gen::inRange<std::int64_t>(0, 400) * 1'000'000;
    request.arrival_ns = now_ns;
    request.index = i;
    request.input_tokens = *rc::gen::inRange<std::uint32_t>(0, 3000);
    request.output_tokens = *rc::gen::inRange<std::uint32_t>(0, 3000);
    request.block_tokens = mooncake ? 512 : *rc::gen::element(0U, 16U, 64U, 512U);
    if (request.block_tokens > 0) {
      const std::size_t count = divide_up(request.input_tokens, request.block_tokens);
      // Some leading ids are those of the line above, as in conversations.
      const std::size_t shared =
          *rc::gen::inRange<std::size_t>(0, std::min(count, before.size()) + 1);
      request.block_ids.assign(before.begin(),
                               before.begin() + static_cast<std::ptrdiff_t>(shared));
      while (request.block_ids.size() < count) {
        const auto id = *rc::gen::arbitrary<std::uint64_t>();
        request.block_ids.push_back(mooncake ? id >> 1 : id);
      }
      before = request.block_ids;
    }
    if (mooncake) continue;
    request.session = *rc::gen::arbitrary<std::uint64_t>();
    request.turn = *rc::gen::arbitrary<std::uint32_t>();
    request.parent = *rc::gen::inRange<std::int64_t>(-1, static_cast<std::int64_t>(i));
    request.think_ns = *rc::gen::inRange<std::int64_t>(0, kTimeNsMax);
    request.api_ns = *rc::gen::inRange<std::int64_t>(0, kTimeNsMax);
    request.model = *rc::gen::element<std::string>("", "m", "a \"b\"\\\n\t", "模型");
  }
  return requests;
}

RC_GTEST_PROP(TraceWriter, OursReadsBackAsWritten, ()) {
  const auto requests = any_requests(false);
  const auto read = read_text(written("forebay", requests));
  RC_ASSERT(read.diagnostics.empty());
  RC_ASSERT(read.trace.requests.size() == requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    RC_ASSERT(same(read.trace.requests[i], requests[i]));
  }
}

RC_GTEST_PROP(TraceWriter, MooncakeReadsBackAsWritten, ()) {
  const auto requests = any_requests(true);
  RC_PRE(!requests.empty());  // an empty file has no format
  ReadOptions options;
  options.spread_stamps = false;
  const auto read = read_text(written("mooncake", requests), options);
  RC_ASSERT(read.diagnostics.empty());
  RC_ASSERT(read.trace.requests.size() == requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    RC_ASSERT(same(read.trace.requests[i], requests[i]));
  }
}

TEST(TraceWriter, MooncakeSaysWhatItCannotHold) {
  std::string bytes;
  const auto writer = find_trace_format("mooncake")->create(memory_sink(&bytes), {});
  std::string why;
  Request request;
  request.arrival_ns = 1'500'000;
  request.session = 1;
  request.input_tokens = 600;
  ASSERT_TRUE(writer->write(request, why));
  EXPECT_EQ(writer->notes().size(), 3U);  // sessions, milliseconds, blocks without identity
  request.block_tokens = 64;
  const Status status = writer->write(request, why);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Errc::kInvalid);
  EXPECT_NE(why.find("re-block"), std::string::npos);
}

TEST(TraceWriter, OursRefusesRequestsOutOfOrder) {
  std::string bytes;
  const auto writer = find_trace_format("forebay")->create(memory_sink(&bytes), {});
  std::string why;
  Request request;
  request.index = 1;
  EXPECT_FALSE(writer->write(request, why).has_value());
  request.index = 0;
  request.parent = 0;
  EXPECT_FALSE(writer->write(request, why).has_value());
  EXPECT_FALSE(why.empty());
}

TEST(TraceWriter, AFormatThatCannotBeWrittenIsNamed) {
  Diagnostics diagnostics;
  EXPECT_FALSE(create_trace("x", "azure", {}, diagnostics).has_value());
  EXPECT_NE(diagnostics.text().find("`azure` cannot be written"), std::string::npos);
}

TEST(TraceWriter, AFolderThatIsNotThereIsADiagnostic) {
  Diagnostics diagnostics;
  const auto writer = create_trace("/nonexistent/x", "forebay", {}, diagnostics);
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().code, Errc::kNotFound);
}

TEST(TraceWriter, AFullDiskIsAnErrorByTheTimeOfClosing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  Diagnostics diagnostics;
  auto writer = create_trace("/dev/full", "forebay", {}, diagnostics);
  ASSERT_TRUE(writer.has_value());
  const Status status = (*writer)->close();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Errc::kNoSpace);
}

TEST(TraceWriter, TheNameSaysHowItIsPacked) {
  const std::string path = testing::TempDir() + "packed_trace.jsonl.zst";
  std::vector<Request> requests(3000);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].index = i;
    requests[i].input_tokens = static_cast<std::uint32_t>(mix64(i) % 100'000);
  }
  Diagnostics diagnostics;
  auto writer = create_trace(path, "forebay", {}, diagnostics);
  ASSERT_TRUE(writer) << diagnostics.text();
  std::string why;
  for (const Request& request : requests) ASSERT_TRUE((*writer)->write(request, why));
  ASSERT_TRUE((*writer)->close());
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  // The library's own one-step call unpacks it to what a plain file holds.
  std::string plain(1 << 20, '\0');
  const std::size_t size = ZSTD_decompress(plain.data(), plain.size(), bytes.data(), bytes.size());
  ASSERT_EQ(ZSTD_isError(size), 0U);
  plain.resize(size);
  EXPECT_LT(bytes.size(), plain.size());
  EXPECT_EQ(read_text(plain).trace.requests.size(), requests.size());
}

TEST(TraceWriter, APackingThatIsNotWrittenIsRefused) {
  for (const std::string name : {"x.jsonl.gz", "x.xz", "x.bz2"}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(create_trace(testing::TempDir() + name, "forebay", {}, diagnostics));
    EXPECT_NE(diagnostics.text().find("name it .zst"), std::string::npos) << diagnostics.text();
    EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + name));
  }
}

}  // namespace
}  // namespace forebay::workload

// Any bytes as a trace: never a crash, a hang or unbounded memory; and what was read keeps the
// promises of Request and survives our own format.
//
// The first byte picks the format (0: recognise it), the rest is the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/bytes.h"
#include "core/check.h"
#include "workload/describe.h"
#include "workload/formats.h"

namespace forebay::workload {
namespace {

constexpr std::size_t kIdsCompared = 20'000;

void check_promises(const Request& request, std::uint64_t index) {
  FOREBAY_CHECK_EQ(request.index, index);
  FOREBAY_CHECK(request.arrival_ns >= 0 && request.think_ns >= 0 && request.api_ns >= 0);
  FOREBAY_CHECK_LT(request.parent, static_cast<std::int64_t>(index));
  const std::size_t count = request.block_ids.size();
  if (request.block_tokens == 0) {
    FOREBAY_CHECK_EQ(count, std::size_t{0});
    return;
  }
  FOREBAY_CHECK(count == request.input_tokens / request.block_tokens ||
                count == divide_up(request.input_tokens, request.block_tokens));
}

// What our own format says about `written` again.
void check_again(std::string bytes, const std::vector<Request>& written) {
  Diagnostics diagnostics;
  auto reader = open_trace_bytes(std::move(bytes), {}, diagnostics);
  FOREBAY_CHECK(reader.has_value());
  Request request;
  for (const Request& expected : written) {
    FOREBAY_CHECK((*reader)->next(request).value_or(false));
    FOREBAY_CHECK(request.block_ids == expected.block_ids);
    FOREBAY_CHECK(request.model == expected.model);
    FOREBAY_CHECK_EQ(request.arrival_ns, expected.arrival_ns);
    FOREBAY_CHECK_EQ(request.parent, expected.parent);
    FOREBAY_CHECK_EQ(request.session, expected.session);
  }
  FOREBAY_CHECK(!(*reader)->next(request).value_or(true));
  FOREBAY_CHECK(diagnostics.empty());
}

void read(std::string bytes, const ReadOptions& options) {
  Diagnostics diagnostics;
  auto reader = open_trace_bytes(std::move(bytes), options, diagnostics);
  if (!reader) return;
  std::string copy;
  const auto writer = find_trace_format("forebay")->create(memory_sink(&copy), {});
  std::vector<Request> kept;
  std::string why;
  std::size_t ids = 0;
  std::uint64_t count = 0;
  Describer describer;
  Request request;
  while ((*reader)->next(request).value_or(false)) {
    check_promises(request, count++);
    describer.add(request);
    ids += request.block_ids.size();
    if (ids > kIdsCompared) continue;
    FOREBAY_CHECK(writer->write(request, why).has_value());
    kept.push_back(request);
  }
  static_cast<void>((*reader)->notes());
  FOREBAY_CHECK_EQ(describer.finish(1).request_count, count);
  FOREBAY_CHECK(writer->close().has_value());
  if (ids <= kIdsCompared) check_again(std::move(copy), kept);
}

void read_as(std::uint8_t choice, std::string bytes) {
  const auto names = trace_format_names();
  ReadOptions options;
  const std::size_t format = choice % (names.size() + 1);
  if (format > 0) options.format = names[format - 1];
  options.line_bytes_max = 1 << 16;
  options.document_bytes_max = 1 << 20;
  read(std::move(bytes), options);
}

}  // namespace
}  // namespace forebay::workload

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) forebay::workload::read_as(data[0], std::string(data + 1, data + size));
  return 0;
}

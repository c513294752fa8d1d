#include "workload/open_rows.h"

#include <string>
#include <utility>
#include <vector>

#include "workload/spread_stamps.h"

namespace forebay::workload {
namespace {

// The arrivals of the requests that the head of the file holds, as the format reads them.
std::vector<std::int64_t> first_stamps(std::string_view head, const RoundedRows& rows,
                                       const ReadOptions& options) {
  // The last line is likely cut.
  const std::size_t end = head.size() < kHeadBytes ? head.size() : head.rfind('\n') + 1;
  Diagnostics unheard;
  RowReader reader({"", memory_source(std::string(head.substr(0, end))), rows.format},
                   rows.make_parser(), options, unheard);
  std::vector<std::int64_t> stamps_ns;
  Request request;
  while (reader.next(request).value_or(false)) stamps_ns.push_back(request.arrival_ns);
  return stamps_ns;
}

}  // namespace

std::unique_ptr<TraceReader> open_rows(TraceInput input, std::string_view format,
                                       std::unique_ptr<RowParser> parser,
                                       const ReadOptions& options, Diagnostics& diagnostics) {
  return std::make_unique<RowReader>(
      RowInput{std::move(input.path), std::move(input.bytes), format}, std::move(parser), options,
      diagnostics);
}

Result<std::unique_ptr<TraceReader>> open_rounded_rows(TraceInput input, const RoundedRows& rows,
                                                       const ReadOptions& options,
                                                       Diagnostics& diagnostics) {
  std::int64_t interval_ns = rows.interval_ns;
  if (options.spread_stamps && interval_ns == 0) {
    FOREBAY_TRY(head, input.bytes->peek(kHeadBytes));
    interval_ns = stamp_interval_ns(first_stamps(head, rows, options));
  }
  auto reader = open_rows(std::move(input), rows.format, rows.make_parser(), options, diagnostics);
  if (!options.spread_stamps || interval_ns == 0) return reader;
  return std::make_unique<SpreadStamps>(std::move(reader), interval_ns, options.seed);
}

}  // namespace forebay::workload

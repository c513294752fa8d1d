#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "workload/reader.h"

namespace forebay::workload {
namespace {

// No request is due before the one it waits for, whatever a trace's clock said; so sorting leaves a
// parent above its children.
void raise_to_parents(std::vector<Request>& requests) {
  for (Request& request : requests) {
    if (request.parent < 0) continue;
    const Request& parent = requests[static_cast<std::uint64_t>(request.parent)];
    request.arrival_ns = std::max(request.arrival_ns, parent.arrival_ns);
  }
}

// Sorts by arrival (ties keep their order), renumbers, and lets `parent` follow.
void sort_by_arrival(std::vector<Request>& requests) {
  if (std::ranges::is_sorted(requests, {}, &Request::arrival_ns)) return;
  std::vector<std::uint64_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::sort(order, {},
                    [&](std::uint64_t at) { return std::pair(requests[at].arrival_ns, at); });
  std::vector<std::uint64_t> place(requests.size());
  std::vector<Request> sorted;
  sorted.reserve(requests.size());
  for (std::uint64_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(requests[order[i]]));
  }
  for (std::uint64_t i = 0; i < sorted.size(); ++i) {
    sorted[i].index = i;
    if (sorted[i].parent >= 0) {
      sorted[i].parent =
          static_cast<std::int64_t>(place[static_cast<std::uint64_t>(sorted[i].parent)]);
    }
  }
  requests = std::move(sorted);
}

}  // namespace

Result<Trace> read_all(TraceReader& reader, const ReadLimits& limits) {
  Trace trace;
  std::uint64_t block_id_count = 0;
  bool cut = false;
  Request request;
  while (true) {
    FOREBAY_TRY(more, reader.next(request));
    if (!more) break;
    block_id_count += request.block_ids.size();
    cut = trace.requests.size() >= limits.request_count_max ||
          block_id_count > limits.block_id_count_max;
    if (cut) break;
    trace.requests.push_back(std::exchange(request, {}));
  }
  raise_to_parents(trace.requests);
  sort_by_arrival(trace.requests);
  trace.format = reader.format();
  trace.notes = reader.notes();
  trace.skipped_count = reader.skipped_count();
  if (cut) {
    trace.notes.push_back(
        fmt::format("only the first {} requests were read: the limit is {} "
                    "requests or {} block ids",
                    trace.requests.size(), limits.request_count_max, limits.block_id_count_max));
  }
  return trace;
}

Result<Trace> read_all(const std::string& path, const ReadOptions& options,
                       Diagnostics& diagnostics) {
  FOREBAY_TRY(reader, open_trace(path, options, diagnostics));
  auto trace = read_all(*reader);
  if (!trace) diagnostics.add(path, to_string(trace.error()), "is the file whole?");
  return trace;
}

}  // namespace forebay::workload

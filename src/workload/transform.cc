#include "workload/transform.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/bytes.h"
#include "core/check.h"
#include "core/rng.h"
#include "workload/row_reader.h"

namespace forebay::workload {
namespace {

// One id for each `group` old ones; an incomplete last group counts only where the trace named its
// partial block too.
void merge(Request& request, std::uint32_t block_tokens) {
  const std::size_t group = block_tokens / request.block_tokens;
  const bool tail_named =
      request.block_ids.size() == divide_up(request.input_tokens, request.block_tokens);
  std::vector<std::uint64_t> merged;
  for (std::size_t begin = 0; begin < request.block_ids.size(); begin += group) {
    const std::size_t end = std::min(begin + group, request.block_ids.size());
    if (end - begin < group && !tail_named) break;
    std::uint64_t id = mix64(group);
    for (std::size_t i = begin; i < end; ++i) id = mix64(id + mix64(request.block_ids[i]));
    merged.push_back(id);
  }
  request.block_ids = std::move(merged);
}

// Several ids for each old one. Tokens that the trace gave no identity get ids of this request
// alone.
void split(Request& request, std::uint32_t block_tokens) {
  const std::size_t pieces = request.block_tokens / block_tokens;
  const bool tail_named =
      request.block_ids.size() == divide_up(request.input_tokens, request.block_tokens);
  const std::uint64_t count = tail_named ? divide_up(request.input_tokens, block_tokens)
                                         : request.input_tokens / block_tokens;
  std::vector<std::uint64_t> ids;
  ids.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i / pieces;
    const bool named = from < request.block_ids.size();
    ids.push_back(named ? mix64(mix64(request.block_ids[from]) + i % pieces)
                        : mix64(mix64(request.index) ^ mix64(i)));
  }
  request.block_ids = std::move(ids);
}

std::uint64_t scaled(std::uint64_t tokens, TokenScale scale, bool up) {
  const std::uint64_t product = tokens * scale.multiply;
  if (tokens == 0) return 0;
  return up ? divide_up(product, scale.divide) : std::max<std::uint64_t>(1, product / scale.divide);
}

template <class Change>
Status for_each(Trace& trace, Change change) {
  for (Request& request : trace.requests) FOREBAY_TRY_STATUS(change(request));
  return {};
}

}  // namespace

void slice(Trace& trace, const Slice& slice) {
  std::vector<std::int64_t> place(trace.requests.size(), -1);
  std::size_t kept = 0;
  std::uint64_t orphans = 0;
  for (std::size_t i = 0; i < trace.requests.size(); ++i) {
    Request& request = trace.requests[i];
    const bool inside = request.arrival_ns >= slice.from_ns && request.arrival_ns < slice.to_ns;
    if (!inside || kept >= slice.request_count_max) continue;
    request.arrival_ns -= slice.from_ns;
    if (request.parent >= 0) {
      request.parent = place[static_cast<std::size_t>(request.parent)];
      orphans += request.parent < 0 ? 1 : 0;
    }
    request.index = kept;
    place[i] = static_cast<std::int64_t>(kept);
    if (kept != i) trace.requests[kept] = std::move(request);
    ++kept;
  }
  if (kept == trace.requests.size()) return;
  trace.notes.push_back(
      fmt::format("a slice of {} of {} requests; {} of them lost their parent "
                  "and start on their own",
                  kept, trace.requests.size(), orphans));
  trace.requests.resize(kept);
}

void speed_up(Request& request, double factor) {
  FOREBAY_CHECK(factor > 0 && std::isfinite(factor));
  const auto sooner = [factor](std::int64_t time_ns) {
    const double result = static_cast<double>(time_ns) / factor;
    return std::llround(std::min(result, static_cast<double>(kTimeNsMax)));
  };
  request.arrival_ns = sooner(request.arrival_ns);
  request.think_ns = sooner(request.think_ns);
}

void speed_up(Trace& trace, double factor) {
  for (Request& request : trace.requests) speed_up(request, factor);
}

Status reblock(Request& request, std::uint32_t block_tokens) {
  if (request.block_tokens == 0 || request.block_tokens == block_tokens) return {};
  if (block_tokens < kBlockTokensMin) return fail(Errc::kInvalid, "re-block to tiny blocks");
  if (block_tokens % request.block_tokens == 0) {
    merge(request, block_tokens);
  } else if (request.block_tokens % block_tokens == 0) {
    split(request, block_tokens);
  } else {
    return fail(Errc::kInvalid, "re-block to a size that is no multiple or divisor");
  }
  request.block_tokens = block_tokens;
  return {};
}

Status reblock(Trace& trace, std::uint32_t block_tokens) {
  return for_each(trace, [&](Request& request) { return reblock(request, block_tokens); });
}

Status scale_tokens(Request& request, TokenScale scale) {
  FOREBAY_CHECK(scale.multiply > 0 && scale.divide > 0);
  const std::uint64_t block_product = std::uint64_t{request.block_tokens} * scale.multiply;
  const std::uint64_t block_tokens = block_product / scale.divide;
  if (block_product % scale.divide != 0) return fail(Errc::kInvalid, "scale the block size");
  if (request.block_tokens != 0 && (block_tokens < kBlockTokensMin || block_tokens > kTokensMax)) {
    return fail(Errc::kInvalid, "scale the block size");
  }
  // Rounded so that the number of (whole, or begun) blocks stays what it is.
  const bool up = request.block_tokens == 0 ||
                  request.block_ids.size() == divide_up(request.input_tokens, request.block_tokens);
  const std::uint64_t input_tokens = scaled(request.input_tokens, scale, up);
  const std::uint64_t output_tokens = scaled(request.output_tokens, scale, true);
  if (input_tokens > kTokensMax || output_tokens > kTokensMax) {
    return fail(Errc::kInvalid, "scale the lengths");
  }
  request.block_tokens = static_cast<std::uint32_t>(block_tokens);
  request.input_tokens = static_cast<std::uint32_t>(input_tokens);
  request.output_tokens = static_cast<std::uint32_t>(output_tokens);
  return {};
}

Status scale_tokens(Trace& trace, TokenScale scale) {
  return for_each(trace, [&](Request& request) { return scale_tokens(request, scale); });
}

}  // namespace forebay::workload

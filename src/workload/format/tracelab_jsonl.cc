#include "workload/format/tracelab_jsonl.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/hash.h"
#include "workload/json_fields.h"
#include "workload/open_rows.h"
#include "workload/session_chain.h"
#include "workload/session_start.h"
#include "workload/timestamp.h"

namespace forebay::workload {
namespace {

constexpr std::uint32_t kBlockTokens = 64;

// When a round was sent (its last input was there) and when its last output came.
struct RoundTimes {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

bool is_input(std::string_view event_type) {
  return event_type == "user_message" || event_type == "tool_result";
}

std::optional<RoundTimes> round_times(simdjson::dom::object object) {
  simdjson::dom::array events;
  if (object["timing_events"].get(events) != simdjson::SUCCESS) return std::nullopt;
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> input_ns;
  std::int64_t last_ns = 0;
  for (const simdjson::dom::element event : events) {
    std::string_view type;
    std::string_view stamp;
    if (event["event_type"].get(type) != simdjson::SUCCESS) return std::nullopt;
    if (event["timestamp"].get(stamp) != simdjson::SUCCESS) return std::nullopt;
    const auto at_ns = parse_timestamp_ns(stamp);
    if (!at_ns) return std::nullopt;
    if (is_input(type)) input_ns = std::max(input_ns.value_or(*at_ns), *at_ns);
    first_ns = std::min(first_ns.value_or(*at_ns), *at_ns);
    last_ns = std::max(last_ns, *at_ns);
  }
  if (!first_ns) return std::nullopt;
  return RoundTimes{input_ns.value_or(*first_ns), last_ns};
}

class TraceLabJsonlParser final : public RowParser {
 public:
  explicit TraceLabJsonlParser(const ReadOptions& options)
      : block_tokens_(options.block_tokens == 0 ? kBlockTokens : options.block_tokens),
        start_(options) {}

  Row parse(std::string_view text, Request& request, Mistake& mistake) override {
    const auto object = json_.parse(text, mistake);
    if (!object) return Row::kMalformed;
    JsonFields fields(*object, mistake);
    const std::uint64_t session = hash64(fields.text("session_id")) | 1;
    const std::uint64_t round = fields.count("round_index", kTokensMax);
    const std::uint32_t prefix_tokens = fields.tokens("prefix_tokens");
    const std::uint32_t new_tokens = fields.tokens("newly_append_tokens");
    request.output_tokens = fields.tokens("output_tokens");
    if (fields.has("model")) request.model = fields.text("model");
    const auto times = round_times(*object);
    if (!times) {
      fields.mistake("`timing_events` has no event, or one without a type or time",
                     "each event needs event_type and timestamp, such as 2026-06-01T05:40:20.151Z");
    }
    SessionTurn& turn = sessions_[session];
    if (turn.turn_count > 0 && round <= turn.last_round) {
      fields.mistake(
          fmt::format("round {} follows round {} of its session", round, turn.last_round),
          "rounds of a session stand in order");
    }
    request.input_tokens = prefix_tokens + new_tokens;
    if (request.input_tokens > kTokensMax) fields.mistake("the context is too long");
    if (!fields.ok()) return Row::kMalformed;
    place(*times, turn, request);
    SessionChains::follow(turn, session, request);
    SessionChains::name_blocks(turn, prefix_tokens, block_tokens_, request);
    turn.last_round = round;
    return Row::kRequest;
  }

  void add_notes(std::vector<std::string>& notes) const override {
    notes.push_back(fmt::format(
        "blocks of {} tokens are named from prefix lengths, within a session", block_tokens_));
    if (start_.count() > 0) notes.push_back(start_.note());
    if (sessions_.forgot())
      notes.emplace_back("more sessions than can be followed: some start anew");
  }

 private:
  // Sessions come from many days: each keeps its own pace from a start of ours.
  void place(const RoundTimes& times, SessionTurn& turn, Request& request) {
    if (turn.turn_count == 0) turn.clock_offset_ns = times.start_ns - start_.next_ns();
    const std::int64_t floor_ns = turn.turn_count == 0 ? 0 : turn.arrival_ns;
    request.arrival_ns = std::clamp(times.start_ns - turn.clock_offset_ns, floor_ns, kTimeNsMax);
    request.api_ns = std::min(kTimeNsMax, std::max<std::int64_t>(0, times.end_ns - times.start_ns));
    if (turn.turn_count > 0) {
      request.think_ns = std::max<std::int64_t>(0, request.arrival_ns - turn.end_ns);
    }
    turn.arrival_ns = request.arrival_ns;
    turn.end_ns = request.arrival_ns + request.api_ns;
  }

  JsonLineParser json_;
  std::uint32_t block_tokens_;
  SessionStart start_;
  SessionChains sessions_;
};

bool matches(const TraceHead& head) {
  return head.bytes.starts_with('{') && head.has("\"newly_append_tokens\"");
}

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  return open_rows(std::move(input), kTraceLabJsonlFormat.name,
                   std::make_unique<TraceLabJsonlParser>(options), options, diagnostics);
}

}  // namespace

const TraceFormat kTraceLabJsonlFormat{.name = "tracelab-jsonl",
                                       .summary = "JSONL: one round a line with timing events",
                                       .matches = matches,
                                       .open = open};

}  // namespace forebay::workload

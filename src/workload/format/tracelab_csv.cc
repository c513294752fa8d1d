#include "workload/format/tracelab_csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/hash.h"
#include "workload/csv_row.h"
#include "workload/open_rows.h"
#include "workload/session_chain.h"
#include "workload/session_start.h"

namespace forebay::workload {
namespace {

constexpr std::uint32_t kBlockTokens = 64;
constexpr std::int64_t kMillisecondNs = 1'000'000;
constexpr std::array<std::string_view, 6> kColumns{
    "session_id", "round_idx", "prefix_len", "input_len", "output_len", "tool_wait_after_ms"};
constexpr std::string_view kArrivalColumn = "arrival_time";  // not in every file

class TraceLabCsvParser final : public RowParser {
 public:
  explicit TraceLabCsvParser(const ReadOptions& options)
      : block_tokens_(options.block_tokens == 0 ? kBlockTokens : options.block_tokens),
        start_(options) {}

  Row parse(std::string_view text, Request& request, Mistake& mistake) override {
    if (!header_.known()) {
      return header_.read(text, kColumns, mistake) ? Row::kNothing : Row::kMalformed;
    }
    CsvRow row(header_, text, mistake);
    const std::uint64_t session = hash64(row.text(kColumns[0])) | 1;
    const std::uint64_t round = row.count(kColumns[1], kTokensMax);
    const std::uint32_t prefix_tokens = row.tokens(kColumns[2]);
    request.input_tokens = prefix_tokens + row.tokens(kColumns[3]);
    if (request.input_tokens > kTokensMax) row.mistake("the context is too long");
    request.output_tokens = row.tokens(kColumns[4]);
    const std::int64_t wait_ns = row.time_ns(kColumns[5], kMillisecondNs);
    const bool has_arrival = header_.column(kArrivalColumn).has_value();
    std::int64_t start_ns = has_arrival ? row.time_ns(kArrivalColumn, kMillisecondNs) : 0;
    SessionTurn& turn = sessions_[session];
    if (turn.turn_count > 0 && round <= turn.last_round) {
      row.mistake(fmt::format("round {} follows round {} of its session", round, turn.last_round),
                  "rounds of a session stand in order");
    }
    if (!row.ok()) return Row::kMalformed;
    if (!has_arrival && turn.turn_count == 0) start_ns = start_.next_ns();
    request.think_ns = turn.wait_ns;
    request.arrival_ns =
        turn.turn_count == 0 ? start_ns : std::min(kTimeNsMax, turn.arrival_ns + turn.wait_ns);
    SessionChains::follow(turn, session, request);
    SessionChains::name_blocks(turn, prefix_tokens, block_tokens_, request);
    turn.arrival_ns = request.arrival_ns;
    turn.wait_ns = wait_ns;
    turn.last_round = round;
    return Row::kRequest;
  }

  void add_notes(std::vector<std::string>& notes) const override {
    notes.push_back(fmt::format(
        "blocks of {} tokens are named from prefix lengths, within a session", block_tokens_));
    notes.emplace_back(
        "the time that the model took is not recorded: a later round's arrival is the "
        "earliest possible, and it waits for the round before it");
    if (start_.count() > 0) notes.push_back(start_.note());
    if (sessions_.forgot())
      notes.emplace_back("more sessions than can be followed: some start anew");
  }

 private:
  std::uint32_t block_tokens_;
  CsvHeader header_;
  SessionStart start_;
  SessionChains sessions_;
};

bool matches(const TraceHead& head) { return head.has("tool_wait_after_ms"); }

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  return open_rows(std::move(input), kTraceLabCsvFormat.name,
                   std::make_unique<TraceLabCsvParser>(options), options, diagnostics);
}

}  // namespace

const TraceFormat kTraceLabCsvFormat{
    .name = "tracelab-csv",
    .summary = "CSV: session, round, prefix and input lengths, tool waits",
    .matches = matches,
    .open = open};

}  // namespace forebay::workload

#include "workload/format/burstgpt.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <utility>

#include "core/hash.h"
#include "workload/csv_row.h"
#include "workload/open_rows.h"
#include "workload/session_chain.h"

namespace forebay::workload {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::array<std::string_view, 4> kColumns{"Timestamp", "Model", "Request tokens",
                                                   "Response tokens"};

class BurstGptParser final : public RowParser {
 public:
  Row parse(std::string_view text, Request& request, Mistake& mistake) override {
    if (!header_.known()) {
      return header_.read(text, kColumns, mistake) ? Row::kNothing : Row::kMalformed;
    }
    CsvRow row(header_, text, mistake);
    request.arrival_ns = row.time_ns(kColumns[0], kSecondNs);
    request.model = row.text(kColumns[1]);
    request.input_tokens = row.tokens(kColumns[2]);
    request.output_tokens = row.tokens(kColumns[3]);
    if (!row.text("Elapsed time").empty()) {
      request.api_ns = row.time_ns("Elapsed time", kSecondNs);
    }
    if (!row.ok()) return Row::kMalformed;
    if (request.output_tokens == 0) {  // the publishers' mark of a failed request
      ++failed_count_;
      return Row::kNothing;
    }
    const std::string_view session =
        header_.column("SessionID") ? row.text("SessionID") : row.text("Session ID");
    if (!session.empty()) {
      const std::uint64_t id = hash64(session) | 1;
      SessionChains::follow(sessions_[id], id, request);
    }
    return Row::kRequest;
  }

  void add_notes(std::vector<std::string>& notes) const override {
    if (failed_count_ > 0) {
      notes.push_back(
          fmt::format("{} failed requests (no response tokens) are left out", failed_count_));
    }
  }

 private:
  CsvHeader header_;
  SessionChains sessions_;
  std::uint64_t failed_count_ = 0;
};

bool matches(const TraceHead& head) { return head.has("Request tokens,Response tokens"); }

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  const RoundedRows rows{.format = kBurstGptFormat.name,
                         .make_parser = [] { return std::make_unique<BurstGptParser>(); },
                         .interval_ns = kSecondNs};
  return open_rounded_rows(std::move(input), rows, options, diagnostics);
}

}  // namespace

const TraceFormat kBurstGptFormat{
    .name = "burstgpt",
    .summary = "CSV: Timestamp, Model, Request tokens, Response tokens",
    .matches = matches,
    .open = open};

}  // namespace forebay::workload

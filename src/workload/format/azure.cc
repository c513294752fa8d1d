#include "workload/format/azure.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "workload/csv_row.h"
#include "workload/open_rows.h"
#include "workload/timestamp.h"

namespace forebay::workload {
namespace {

constexpr std::array<std::string_view, 3> kColumns{"TIMESTAMP", "ContextTokens", "GeneratedTokens"};

class AzureParser final : public RowParser {
 public:
  Row parse(std::string_view text, Request& request, Mistake& mistake) override {
    if (!header_.known()) {
      return header_.read(text, kColumns, mistake) ? Row::kNothing : Row::kMalformed;
    }
    CsvRow row(header_, text, mistake);
    const auto stamp_ns = parse_timestamp_ns(row.text(kColumns[0]));
    if (!stamp_ns) {
      row.mistake(fmt::format("`{}` is not a time", row.text(kColumns[0])),
                  "such as 2023-11-16 18:17:03.9799600");
    }
    request.input_tokens = row.tokens(kColumns[1]);
    request.output_tokens = row.tokens(kColumns[2]);
    if (!row.ok()) return Row::kMalformed;
    if (!first_ns_) first_ns_ = *stamp_ns;
    const std::int64_t since_ns = *stamp_ns - *first_ns_;
    if (since_ns > kTimeNsMax) {
      row.mistake(fmt::format("`{}` is years after the first request", row.text(kColumns[0])),
                  "which of the two is the mistake?");
      return Row::kMalformed;
    }
    if (since_ns < 0) ++early_count_;
    request.arrival_ns = std::max<std::int64_t>(0, since_ns);
    return Row::kRequest;
  }

  void add_notes(std::vector<std::string>& notes) const override {
    if (early_count_ > 0) {
      notes.push_back(
          fmt::format("{} rows are older than the first and count as of its time", early_count_));
    }
  }

 private:
  CsvHeader header_;
  std::optional<std::int64_t> first_ns_;
  std::uint64_t early_count_ = 0;
};

bool matches(const TraceHead& head) { return head.has("ContextTokens,GeneratedTokens"); }

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  return open_rows(std::move(input), kAzureFormat.name, std::make_unique<AzureParser>(), options,
                   diagnostics);
}

}  // namespace

const TraceFormat kAzureFormat{.name = "azure",
                               .summary = "CSV: TIMESTAMP, ContextTokens, GeneratedTokens",
                               .matches = matches,
                               .open = open};

}  // namespace forebay::workload

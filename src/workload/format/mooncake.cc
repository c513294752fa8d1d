#include "workload/format/mooncake.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <utility>

#include "core/bytes.h"
#include "core/rng.h"
#include "workload/json_fields.h"
#include "workload/open_rows.h"

namespace forebay::workload {
namespace {

constexpr std::uint32_t kBlockTokens = 512;
constexpr std::int64_t kMillisecondNs = 1'000'000;

class MooncakeParser final : public RowParser {
 public:
  explicit MooncakeParser(std::uint32_t block_tokens) : block_tokens_(block_tokens) {}

  Row parse(std::string_view text, Request& request, Mistake& mistake) override {
    const auto object = json_.parse(text, mistake);
    if (!object) return Row::kMalformed;
    JsonFields fields(*object, mistake);
    request.arrival_ns = fields.time_ns("timestamp", kMillisecondNs);
    request.input_tokens = fields.tokens("input_length");
    request.output_tokens = fields.tokens("output_length");
    if (fields.has("hash_ids")) {
      fields.ids("hash_ids", request.block_ids);
      request.block_tokens = block_tokens_;
      check_block_count(request, fields);
    }
    return fields.ok() ? Row::kRequest : Row::kMalformed;
  }

 private:
  void check_block_count(const Request& request, JsonFields& fields) const {
    const std::uint64_t expected = divide_up(request.input_tokens, block_tokens_);
    if (request.block_ids.size() == expected) return;
    fields.mistake(
        fmt::format("{} hash_ids for {} input tokens; blocks of {} tokens make {}",
                    request.block_ids.size(), request.input_tokens, block_tokens_, expected),
        "traces with other blocks than 512 tokens: say so with --block-tokens");
  }

  JsonLineParser json_;
  std::uint32_t block_tokens_;
};

class MooncakeWriter final : public TraceWriter {
 public:
  explicit MooncakeWriter(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)) {}

  Status write(const Request& request, std::string& why) override {
    const std::uint64_t block_count = divide_up(request.input_tokens, kBlockTokens);
    if (request.block_tokens != 0 && request.block_tokens != kBlockTokens) {
      why = fmt::format(
          "request {} has blocks of {} tokens, Mooncake's have 512: re-block them to 512",
          request.index, request.block_tokens);
      return fail(Errc::kInvalid, "write Mooncake request");
    }
    dropped_ = dropped_ || request.session != 0 || request.parent >= 0 || !request.model.empty();
    rounded_ = rounded_ || request.arrival_ns % kMillisecondNs != 0;
    line_.clear();
    auto out = std::back_inserter(line_);
    fmt::format_to(
        out, R"({{"timestamp": {}, "input_length": {}, "output_length": {}, "hash_ids": [)",
        request.arrival_ns / kMillisecondNs, request.input_tokens, request.output_tokens);
    for (std::uint64_t i = 0; i < block_count; ++i) {
      fmt::format_to(out, "{}{}", i == 0 ? "" : ", ", id_of(request, i));
    }
    fmt::format_to(out, "]}}\n");
    return sink_->write(line_);
  }

  Status close() override { return sink_->close(); }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (dropped_)
      notes.emplace_back("Mooncake has no sessions, parents, waits or models: left out");
    if (rounded_)
      notes.emplace_back("Mooncake counts whole milliseconds: arrivals are rounded down");
    if (made_up_) {
      notes.emplace_back("blocks without an identity got one of their own: they share nothing");
    }
    return notes;
  }

 private:
  // Readers keep ids in signed 64 bits: the top bit stays clear.
  std::uint64_t id_of(const Request& request, std::uint64_t block) {
    constexpr std::uint64_t kMask = ~std::uint64_t{0} >> 1;
    if (block < request.block_ids.size()) return request.block_ids[block] & kMask;
    made_up_ = true;
    return mix64(mix64(request.index) ^ block) & kMask;
  }

  std::unique_ptr<ByteSink> sink_;
  std::string line_;
  bool dropped_ = false;
  bool rounded_ = false;
  bool made_up_ = false;
};

bool matches(const TraceHead& head) {
  return head.bytes.starts_with('{') && head.has("\"input_length\"") && head.has("\"timestamp\"");
}

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  const std::uint32_t block_tokens =
      options.block_tokens == 0 ? kBlockTokens : options.block_tokens;
  const RoundedRows rows{.format = kMooncakeFormat.name, .make_parser = [block_tokens] {
                           return std::make_unique<MooncakeParser>(block_tokens);
                         }};
  return open_rounded_rows(std::move(input), rows, options, diagnostics);
}

std::unique_ptr<TraceWriter> create(std::unique_ptr<ByteSink> sink, const WriteOptions&) {
  return std::make_unique<MooncakeWriter>(std::move(sink));
}

}  // namespace

const TraceFormat kMooncakeFormat{.name = "mooncake",
                                  .summary = "JSONL: timestamp, lengths, hash_ids of 512 tokens",
                                  .matches = matches,
                                  .open = open,
                                  .create = create};

}  // namespace forebay::workload

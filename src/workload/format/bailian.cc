#include "workload/format/bailian.h"

#include <fmt/core.h>

#include <memory>
#include <utility>

#include "core/bytes.h"
#include "core/rng.h"
#include "workload/json_fields.h"
#include "workload/open_rows.h"
#include "workload/recent_map.h"

namespace forebay::workload {
namespace {

constexpr std::uint32_t kBlockTokens = 16;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::size_t kChatsMax = std::size_t{1} << 20;

// The trace hashes each block alone: the same text behind another prefix has the same id. Only the
// chain says what a prefix cache can serve.
void chain_ids(std::vector<std::uint64_t>& ids) {
  std::uint64_t chain = 0;
  for (std::uint64_t& id : ids) {
    chain = mix64(chain + mix64(id));
    id = chain;
  }
}

class BailianParser final : public RowParser {
 public:
  explicit BailianParser(std::uint32_t block_tokens) : block_tokens_(block_tokens) {}

  Row parse(std::string_view text, Request& request, Mistake& mistake) override {
    const auto object = json_.parse(text, mistake);
    if (!object) return Row::kMalformed;
    JsonFields fields(*object, mistake);
    request.arrival_ns = fields.time_ns("timestamp", kSecondNs);
    request.input_tokens = fields.tokens("input_length");
    request.output_tokens = fields.tokens("output_length");
    request.block_tokens = block_tokens_;
    fields.ids("hash_ids", request.block_ids);
    check_block_count(request, fields);
    const std::uint64_t chat = fields.count("chat_id", kTokensMax << 20);
    const std::uint64_t turn = fields.has("turn") ? fields.count("turn", 1 << 20) : 1;
    if (!fields.ok()) return Row::kMalformed;
    chain_ids(request.block_ids);
    request.turn = turn == 0 ? 0 : static_cast<std::uint32_t>(turn - 1);
    link(*object, chat, request);
    return Row::kRequest;
  }

  void add_notes(std::vector<std::string>& notes) const override {
    notes.emplace_back(
        "block ids name single blocks in this format; they are chained with the blocks "
        "before them, so that equal ids mean equal prefixes");
    if (orphan_count_ > 0) {
      notes.push_back(
          fmt::format("{} requests name a parent that is not in the file", orphan_count_));
    }
  }

 private:
  struct Chat {
    std::int64_t index = -1;
    std::uint64_t session = 0;
  };

  void check_block_count(const Request& request, JsonFields& fields) const {
    const std::uint64_t expected = divide_up(request.input_tokens, block_tokens_);
    const std::size_t got = request.block_ids.size();
    if (got == expected || got == request.input_tokens / block_tokens_) return;
    fields.mistake(fmt::format("{} hash_ids for {} input tokens; blocks of {} tokens make {}", got,
                               request.input_tokens, block_tokens_, expected),
                   "traces with other blocks than 16 tokens: say so with --block-tokens");
  }

  // A conversation is the chain of parent_chat_id; its session is named by its root.
  void link(simdjson::dom::object object, std::uint64_t chat, Request& request) {
    std::int64_t parent = -1;
    if (object["parent_chat_id"].get(parent) != simdjson::SUCCESS) parent = -1;
    request.session = mix64(chat) | 1;
    if (parent >= 0) {
      const Chat* found = chats_.find(static_cast<std::uint64_t>(parent));
      if (found == nullptr) {
        ++orphan_count_;
      } else {
        request.parent = found->index;
        request.session = found->session;
      }
    }
    chats_[chat] = {static_cast<std::int64_t>(request.index), request.session};
  }

  JsonLineParser json_;
  std::uint32_t block_tokens_;
  RecentMap<Chat> chats_{kChatsMax};
  std::uint64_t orphan_count_ = 0;
};

bool matches(const TraceHead& head) {
  return head.bytes.starts_with('{') && head.has("\"chat_id\"") && head.has("\"hash_ids\"");
}

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  const std::uint32_t block_tokens =
      options.block_tokens == 0 ? kBlockTokens : options.block_tokens;
  return open_rows(std::move(input), kBailianFormat.name,
                   std::make_unique<BailianParser>(block_tokens), options, diagnostics);
}

}  // namespace

const TraceFormat kBailianFormat{.name = "bailian",
                                 .summary = "JSONL: chat_id, parent_chat_id, hash_ids of 16 tokens",
                                 .matches = matches,
                                 .open = open};

}  // namespace forebay::workload

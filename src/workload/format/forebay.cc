#include "workload/format/forebay.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "core/bytes.h"
#include "workload/json_fields.h"
#include "workload/open_rows.h"

namespace forebay::workload {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kMagicKey = "forebay_trace";
constexpr std::uint64_t kEntriesMax = std::uint64_t{1} << 40;
constexpr std::size_t kSkippedKept = std::size_t{1} << 20;
constexpr std::size_t kUnknownKept = 8;
constexpr std::array<std::string_view, 12> kKeys{
    "arrival_ns", "session",      "turn",          "parent",       "think_ns",  "api_ns",
    "model",      "input_tokens", "output_tokens", "block_tokens", "block_ids", "repeat_blocks"};

// Entry k stands on line k + 2: the header is line 1.
std::uint64_t entry_of(std::uint64_t line) { return line - 2; }

class ForebayParser final : public RowParser {
 public:
  explicit ForebayParser(std::uint32_t block_tokens) : block_tokens_(block_tokens) {}

  Row parse(std::string_view text, Request& request, Mistake& mistake) override {
    if (request.line == 1) return Row::kNothing;  // open() has read it
    note_gap(entry_of(request.line));
    const bool good = read(text, request, mistake);
    if (good) {
      before_ = request.block_ids;
      before_entry_ = entry_of(request.line);
    } else {
      keep_skipped(entry_of(request.line));
    }
    return good ? Row::kRequest : Row::kMalformed;
  }

  void add_notes(std::vector<std::string>& notes) const override {
    for (const std::string& key : unknown_) {
      notes.push_back(fmt::format("unknown key `{}` is ignored; {}", key, suggest(key, kKeys)));
    }
    if (orphan_count_ > 0) {
      notes.push_back(
          fmt::format("{} requests lost their parent with a skipped line", orphan_count_));
    }
  }

 private:
  bool read(std::string_view text, Request& request, Mistake& mistake);
  void read_blocks(JsonFields& fields, Request& request);
  void read_parent(JsonFields& fields, Request& request);
  void note_unknown(simdjson::dom::object object);
  void note_gap(std::uint64_t entry);
  void keep_skipped(std::uint64_t entry);

  JsonLineParser json_;
  std::uint32_t block_tokens_;
  std::vector<std::uint64_t> before_;  // block ids of entry `before_entry_`
  std::uint64_t before_entry_ = kEntriesMax;
  std::uint64_t next_entry_ = 0;
  std::vector<std::uint64_t> skipped_;  // entries without a request, ascending
  std::set<std::string> unknown_;
  std::uint64_t orphan_count_ = 0;
};

void ForebayParser::keep_skipped(std::uint64_t entry) {
  if (skipped_.size() < kSkippedKept) skipped_.push_back(entry);
}

// Blank and overlong lines never come here, yet they count as entries.
void ForebayParser::note_gap(std::uint64_t entry) {
  const std::uint64_t end = std::min(entry, next_entry_ + kSkippedKept);
  for (std::uint64_t missing = next_entry_; missing < end; ++missing) keep_skipped(missing);
  next_entry_ = entry + 1;
}

bool ForebayParser::read(std::string_view text, Request& request, Mistake& mistake) {
  const auto object = json_.parse(text, mistake);
  if (!object) return false;
  JsonFields fields(*object, mistake);
  request.arrival_ns = fields.time_ns("arrival_ns", 1);
  request.input_tokens = fields.tokens("input_tokens");
  request.output_tokens = fields.tokens("output_tokens");
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  if (fields.has("session")) request.session = fields.count("session", kAny);
  constexpr std::uint32_t kTurnMax = std::numeric_limits<std::uint32_t>::max();
  if (fields.has("turn")) {
    request.turn = static_cast<std::uint32_t>(fields.count("turn", kTurnMax));
  }
  if (fields.has("think_ns")) request.think_ns = fields.time_ns("think_ns", 1);
  if (fields.has("api_ns")) request.api_ns = fields.time_ns("api_ns", 1);
  if (fields.has("model")) request.model = fields.text("model");
  read_parent(fields, request);
  read_blocks(fields, request);
  note_unknown(*object);
  return fields.ok();
}

void ForebayParser::read_parent(JsonFields& fields, Request& request) {
  if (!fields.has("parent")) return;
  const std::uint64_t parent = fields.count("parent", kEntriesMax);
  if (parent >= entry_of(request.line)) {
    return fields.mistake(fmt::format("parent {} does not stand above this request, {}", parent,
                                      entry_of(request.line)),
                          "requests count from 0, on line 2");
  }
  const auto at = std::ranges::lower_bound(skipped_, parent);
  if ((at != skipped_.end() && *at == parent) || skipped_.size() == kSkippedKept) {
    ++orphan_count_;
    return;
  }
  request.parent = static_cast<std::int64_t>(parent) - (at - skipped_.begin());
}

void ForebayParser::read_blocks(JsonFields& fields, Request& request) {
  request.block_tokens = block_tokens_;
  if (fields.has("block_tokens")) {
    request.block_tokens = static_cast<std::uint32_t>(fields.count("block_tokens", kTokensMax));
  }
  if (!fields.has("block_ids") && !fields.has("repeat_blocks")) {
    request.block_tokens = 0;
    return;
  }
  if (request.block_tokens < kBlockTokensMin) {
    return fields.mistake(fmt::format("`block_tokens` is below {}", kBlockTokensMin),
                          "give it in the header, or in each line");
  }
  if (fields.has("repeat_blocks")) {
    const std::uint64_t count = fields.count("repeat_blocks", kBlockIdsMax);
    const bool there = before_entry_ + 1 == entry_of(request.line) && count <= before_.size();
    if (!there) {
      return fields.mistake(
          fmt::format("`repeat_blocks` asks for {} ids of the line above, which has not as many",
                      count),
          "was the line above skipped?");
    }
    request.block_ids.assign(before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (fields.has("block_ids")) fields.ids("block_ids", request.block_ids);
  const std::size_t got = request.block_ids.size();
  const std::uint64_t all = divide_up(request.input_tokens, request.block_tokens);
  if (got != all && got != request.input_tokens / request.block_tokens) {
    fields.mistake(fmt::format("{} block ids for {} input tokens; blocks of {} tokens make {}", got,
                               request.input_tokens, request.block_tokens, all));
  }
}

void ForebayParser::note_unknown(simdjson::dom::object object) {
  if (unknown_.size() >= kUnknownKept) return;
  for (const auto field : object) {
    if (std::ranges::find(kKeys, field.key) == kKeys.end()) {
      unknown_.emplace(field.key.substr(0, 64));
    }
  }
}

// Keeps each line short: a field at its default is left out, and ids that the line above has too
// are a count.
class ForebayWriter final : public TraceWriter {
 public:
  ForebayWriter(std::unique_ptr<ByteSink> sink, const WriteOptions& options)
      : sink_(std::move(sink)), origin_(options.origin) {}

  Status write(const Request& request, std::string& why) override {
    if (request.index != count_ || request.parent >= static_cast<std::int64_t>(count_)) {
      why = fmt::format("request {} with parent {} does not follow request {}", request.index,
                        request.parent, count_);
      return fail(Errc::kInvalid, "write request");
    }
    FOREBAY_TRY_STATUS(header());
    ++count_;
    line_.clear();
    put_fields(request);
    put_blocks(request);
    line_ += "}\n";
    before_ = request.block_ids;
    return sink_->write(line_);
  }

  Status close() override {
    FOREBAY_TRY_STATUS(header());
    return sink_->close();
  }

 private:
  Status header() {
    if (std::exchange(headed_, true)) return {};
    std::string line = fmt::format(R"({{"{}":{})", kMagicKey, kVersion);
    if (!origin_.empty()) line += fmt::format(R"(,"origin":{})", quoted(origin_));
    return sink_->write(line + "}\n");
  }

  void put_fields(const Request& request) {
    auto out = std::back_inserter(line_);
    fmt::format_to(out, R"({{"arrival_ns":{},"input_tokens":{},"output_tokens":{})",
                   request.arrival_ns, request.input_tokens, request.output_tokens);
    if (request.session != 0) fmt::format_to(out, R"(,"session":{})", request.session);
    if (request.turn != 0) fmt::format_to(out, R"(,"turn":{})", request.turn);
    if (request.parent >= 0) fmt::format_to(out, R"(,"parent":{})", request.parent);
    if (request.think_ns != 0) fmt::format_to(out, R"(,"think_ns":{})", request.think_ns);
    if (request.api_ns != 0) fmt::format_to(out, R"(,"api_ns":{})", request.api_ns);
    if (!request.model.empty()) fmt::format_to(out, R"(,"model":{})", quoted(request.model));
  }

  void put_blocks(const Request& request) {
    if (request.block_tokens == 0) return;
    auto out = std::back_inserter(line_);
    fmt::format_to(out, R"(,"block_tokens":{})", request.block_tokens);
    const auto [same, ignored] = std::ranges::mismatch(request.block_ids, before_);
    const auto repeat = same - request.block_ids.begin();
    if (repeat > 0) fmt::format_to(out, R"(,"repeat_blocks":{})", repeat);
    fmt::format_to(out, R"(,"block_ids":[{}])", fmt::join(same, request.block_ids.end(), ","));
  }

  // JSON escapes; bytes that are not ASCII pass as they are.
  static std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        result += '\\';
        result += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        result += c;
      }
    }
    return result + '"';
  }

  std::unique_ptr<ByteSink> sink_;
  std::string origin_;
  std::string line_;
  std::vector<std::uint64_t> before_;
  std::uint64_t count_ = 0;
  bool headed_ = false;
};

bool matches(const TraceHead& head) {
  return head.bytes.substr(0, 4096).find(fmt::format("\"{}\"", kMagicKey)) !=
         std::string_view::npos;
}

// Checks the version and returns the block size that lines without one have.
std::uint32_t read_header(std::string_view head, Mistake& mistake) {
  std::string line(head.substr(0, head.find('\n')));
  const std::size_t size = line.size();
  line.resize(size + LineReader::kPaddingBytes);
  JsonLineParser json;
  const auto object = json.parse(std::string_view(line).substr(0, size), mistake);
  if (!object) return 0;
  JsonFields fields(*object, mistake);
  const std::uint64_t version = fields.count(kMagicKey, 1 << 20);
  if (fields.ok() && version != kVersion) {
    fields.mistake(fmt::format("version {} of the trace format", version),
                   fmt::format("this program reads version {}", kVersion));
  }
  if (!fields.has("block_tokens")) return 0;
  return static_cast<std::uint32_t>(fields.count("block_tokens", kTokensMax));
}

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  FOREBAY_TRY(head, input.bytes->peek(kHeadBytes));
  Mistake mistake;
  const std::uint32_t block_tokens = read_header(head, mistake);
  if (!mistake.message.empty()) {
    diagnostics.add_at(input.path, 1, std::move(mistake.message), std::move(mistake.hint));
    return fail(Errc::kVersion, "read trace header");
  }
  return open_rows(std::move(input), kForebayFormat.name,
                   std::make_unique<ForebayParser>(block_tokens), options, diagnostics);
}

std::unique_ptr<TraceWriter> create(std::unique_ptr<ByteSink> sink, const WriteOptions& options) {
  return std::make_unique<ForebayWriter>(std::move(sink), options);
}

}  // namespace

const TraceFormat kForebayFormat{.name = "forebay",
                                 .summary = "our own JSONL: all that a Request holds",
                                 .matches = matches,
                                 .open = open,
                                 .create = create};

}  // namespace forebay::workload

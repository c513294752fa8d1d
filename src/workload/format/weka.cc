#include "workload/format/weka.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/bytes.h"
#include "core/hash.h"
#include "core/rng.h"
#include "workload/documents.h"
#include "workload/json_fields.h"
#include "workload/session_start.h"

namespace forebay::workload {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr int kSubAgentDepthMax = 8;

// One conversation of a session: the main one or a sub-agent's.
struct Thread {
  std::uint64_t session = 0;
  std::size_t spawned_by = 0;    // the thread that started it; itself for the main one
  std::int64_t last_index = -1;  // of its latest request
  std::int64_t last_end_ns = 0;  // when that ended, on the session's clock
  std::uint32_t turn_count = 0;
};

struct Entry {
  std::int64_t at_ns = 0;  // on the session's clock
  std::size_t order = 0;   // in the file
  std::size_t thread = 0;
  std::size_t number = 0;  // in its `requests`, for messages
  simdjson::dom::object object;
};

// One session file, flattened: the requests of all threads in the order of time.
struct Session {
  std::string place;
  std::uint64_t id_salt = 0;  // 0: ids are shared by all sessions
  std::uint32_t block_tokens = 0;
  std::int64_t start_ns = 0;
  std::vector<Thread> threads;
  std::vector<Entry> entries;
  std::size_t served = 0;
};

class WekaReader final : public TraceReader {
 public:
  WekaReader(std::unique_ptr<Documents> documents, const ReadOptions& options,
             Diagnostics& diagnostics)
      : documents_(std::move(documents)), start_(options), diagnostics_(diagnostics) {}

  Result<bool> next(Request& request) override {
    while (true) {
      while (session_.served < session_.entries.size()) {
        if (read_entry(session_.entries[session_.served++], request)) return true;
      }
      Document document;
      FOREBAY_TRY(more, documents_->next(document));
      if (!more) return false;
      open_session(document);
    }
  }

  std::string_view format() const override { return kWekaFormat.name; }
  std::uint64_t skipped_count() const override {
    return skipped_count_ + documents_->skipped_count();
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes{start_.note()};
    if (sub_agent_count_ > 0) {
      notes.push_back(
          fmt::format("{} sub-agents count as sessions of their own, started by the "
                      "request before them",
                      sub_agent_count_));
    }
    if (skipped_count() > 0) notes.push_back(skipped_note(skipped_count(), request_count_));
    return notes;
  }

 private:
  void open_session(const Document& document);
  void flatten(simdjson::dom::array requests, std::int64_t base_ns, std::size_t thread, int depth);
  void add_sub_agent(simdjson::dom::object object, const Entry& entry, int depth);
  [[nodiscard]] bool read_entry(const Entry& entry, Request& request);
  void read_ids(JsonFields& fields, Request& request) const;
  void link(JsonFields& fields, const Entry& entry, Request& request);
  void skip(const std::string& where, Mistake mistake);

  std::unique_ptr<Documents> documents_;
  SessionStart start_;
  Diagnostics& diagnostics_;
  JsonLineParser json_;
  Session session_;
  std::uint64_t request_count_ = 0;
  std::uint64_t sub_agent_count_ = 0;
  std::uint64_t skipped_count_ = 0;
};

void WekaReader::skip(const std::string& where, Mistake mistake) {
  ++skipped_count_;
  diagnostics_.add(session_.place, where + mistake.message, std::move(mistake.hint));
}

void WekaReader::open_session(const Document& document) {
  session_.entries.clear();
  session_.served = 0;
  session_.place = document.place;
  Mistake mistake;
  const auto object = json_.parse(document.text, mistake);
  if (!object) return skip("", {std::move(mistake.message), "one session, a JSON object, a file"});
  JsonFields fields(*object, mistake);
  const std::string_view id = fields.text("id");
  session_.block_tokens = static_cast<std::uint32_t>(fields.count("block_size", kTokensMax));
  if (session_.block_tokens < kBlockTokensMin) fields.mistake("`block_size` is too small");
  const bool local = !fields.has("hash_id_scope") || fields.text("hash_id_scope") != "global";
  simdjson::dom::array requests;
  if ((*object)["requests"].get(requests) != simdjson::SUCCESS) {
    fields.mistake("`requests` is missing or not a list");
  }
  if (!fields.ok()) return skip("", std::move(mistake));
  // Ids of two files name different blocks even where they are equal numbers.
  const std::uint64_t name = hash64(id, hash64(document.file_name));
  session_.id_salt = local ? mix64(name) | 1 : 0;
  session_.start_ns = start_.next_ns();
  session_.threads.assign(1, Thread{.session = name | 1});
  flatten(requests, 0, 0, 0);
  std::ranges::sort(session_.entries, {},
                    [](const Entry& entry) { return std::pair(entry.at_ns, entry.order); });
}

// Appends the requests of one thread, and of the sub-agents between them.
void WekaReader::flatten(simdjson::dom::array requests, std::int64_t base_ns, std::size_t thread,
                         int depth) {
  std::size_t number = 0;
  for (const simdjson::dom::element item : requests) {
    Entry entry{.at_ns = base_ns, .thread = thread, .number = number++};
    const std::string where = fmt::format("requests[{}]: ", entry.number);
    if (item.get(entry.object) != simdjson::SUCCESS) {
      skip(where, {"not a JSON object", ""});
      continue;
    }
    Mistake mistake;
    JsonFields fields(entry.object, mistake);
    entry.at_ns = std::min(kTimeNsMax, base_ns + fields.time_ns("t", kSecondNs));
    const std::string_view type = fields.text("type");
    if (!fields.ok()) {
      skip(where, std::move(mistake));
    } else if (type == "subagent") {
      add_sub_agent(entry.object, entry, depth);
    } else {
      entry.order = session_.entries.size();
      session_.entries.push_back(entry);
    }
  }
}

void WekaReader::add_sub_agent(simdjson::dom::object object, const Entry& entry, int depth) {
  const std::string where = fmt::format("requests[{}]: ", entry.number);
  simdjson::dom::array requests;
  if (object["requests"].get(requests) != simdjson::SUCCESS) {
    return skip(where, {"a sub-agent without `requests`", ""});
  }
  if (depth == kSubAgentDepthMax) return skip(where, {"sub-agents are nested too deep", ""});
  const std::size_t thread = session_.threads.size();
  const std::uint64_t session = mix64(session_.threads[entry.thread].session + thread) | 1;
  session_.threads.push_back({.session = session, .spawned_by = entry.thread});
  ++sub_agent_count_;
  flatten(requests, entry.at_ns, thread, depth + 1);
}

void WekaReader::read_ids(JsonFields& fields, Request& request) const {
  request.block_tokens = session_.block_tokens;
  fields.ids("hash_ids", request.block_ids);
  const std::size_t got = request.block_ids.size();
  const std::uint64_t full = request.input_tokens / request.block_tokens;
  if (got != full && got != divide_up(request.input_tokens, request.block_tokens)) {
    fields.mistake(fmt::format("{} hash_ids for {} input tokens; blocks of {} tokens make {}", got,
                               request.input_tokens, request.block_tokens, full));
  }
  if (session_.id_salt == 0) return;
  for (std::uint64_t& id : request.block_ids) id = mix64(session_.id_salt ^ mix64(id));
}

// Places the request behind the one before it in its thread; a sub-agent's first behind the one
// that started it.
void WekaReader::link(JsonFields& fields, const Entry& entry, Request& request) {
  Thread& thread = session_.threads[entry.thread];
  const bool first = thread.turn_count == 0;
  const Thread& before = first ? session_.threads[thread.spawned_by] : thread;
  request.session = thread.session;
  request.turn = thread.turn_count++;
  request.parent = before.last_index;
  if (request.parent >= 0) {
    request.think_ns = !first && fields.has("think_time")
                           ? fields.time_ns("think_time", kSecondNs)
                           : std::max<std::int64_t>(0, entry.at_ns - before.last_end_ns);
  }
  thread.last_index = static_cast<std::int64_t>(request.index);
  thread.last_end_ns = entry.at_ns + request.api_ns;
}

bool WekaReader::read_entry(const Entry& entry, Request& request) {
  clear_request(request);
  request.index = request_count_;
  request.line = entry.number + 1;
  Mistake mistake;
  JsonFields fields(entry.object, mistake);
  request.arrival_ns = std::min(kTimeNsMax, session_.start_ns + entry.at_ns);
  request.input_tokens = fields.tokens("in");
  request.output_tokens = fields.tokens("out");
  if (fields.has("model")) request.model = fields.text("model");
  if (fields.has("api_time")) request.api_ns = fields.time_ns("api_time", kSecondNs);
  if (fields.has("think_time")) static_cast<void>(fields.time_ns("think_time", kSecondNs));
  read_ids(fields, request);
  if (!fields.ok()) {
    skip(fmt::format("requests[{}]: ", entry.number), std::move(mistake));
    return false;
  }
  link(fields, entry, request);
  ++request_count_;
  return true;
}

bool matches(const TraceHead& head) {
  if (head.is_folder) return true;
  return head.bytes.find("ustar") == 257 ||
         (head.has("\"block_size\"") && head.has("\"requests\"") && head.has("\"hash_ids\""));
}

Result<std::unique_ptr<TraceReader>> open(TraceInput input, const ReadOptions& options,
                                          Diagnostics& diagnostics) {
  const std::string path = input.path;
  auto documents = open_documents(
      {std::move(input.path), std::move(input.bytes), options.document_bytes_max}, diagnostics);
  if (!documents) {
    diagnostics.add(path, to_string(documents.error()));
    return std::unexpected(documents.error());
  }
  return std::make_unique<WekaReader>(std::move(*documents), options, diagnostics);
}

}  // namespace

const TraceFormat kWekaFormat{.name = "weka",
                              .summary = "agentic sessions: JSON files, a folder or a tar of them",
                              .matches = matches,
                              .open = open,
                              .takes_folders = true};

}  // namespace forebay::workload

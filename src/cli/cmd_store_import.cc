// `forebay store import`: the blocks of an export file into a store of any size.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "cli/byte_file.h"
#include "cli/commands.h"
#include "cli/import_room.h"
#include "cli/json_text.h"
#include "cli/open_store.h"
#include "cli/process_limit.h"
#include "cli/progress_line.h"
#include "cli/standard_error.h"
#include "cli/store_size.h"
#include "core/bytes.h"
#include "core/hash.h"
#include "store/export_stream.h"

namespace forebay::cli {
namespace {

constexpr std::uint64_t kBatchBytesMax = 8 * kMiB;
// A batch is at most this part of the store, and one that evicts waits until it is on flash: what
// is under way at once must be little beside what can be reclaimed meanwhile.
constexpr std::uint64_t kBatchesInStore = 32;
constexpr std::size_t kRecentMax = 1 << 16;  // blocks between two flushes
constexpr unsigned kTriesMax = 8;            // of a put that finds write-back full

class Importer {
 public:
  Importer(const Invocation& call, OpenStore& opened, ByteSource& source)
      : call_(call),
        opened_(opened),
        reader_([&source](std::span<std::byte> bytes) { return source.read(bytes); }),
        room_(opened, call.has("--evict")),
        batch_bytes_max_(std::min(kBatchBytesMax,
                                  opened.store->stats().flash.capacity_bytes / kBatchesInStore)) {
    need_.add_used(used_before_);
  }

  // False after printing what is wrong, with the remedy.
  [[nodiscard]] bool run();
  [[nodiscard]] nlohmann::ordered_json json(bool complete) const;
  [[nodiscard]] std::string text(bool closed) const;
  [[nodiscard]] bool took_any() const { return imported_blocks_ + present_blocks_ > 0; }

 private:
  struct Waiting {
    store::ExportedBlock block;
    BlockBuffer buffer;
  };

  [[nodiscard]] Status read_all();
  // Whether the store has it, with whatever bytes.
  [[nodiscard]] Result<bool> is_present(const store::ExportedBlock& block,
                                        const BlockBuffer& buffer);
  [[nodiscard]] Status take(store::ExportedBlock block);
  // The waiting blocks are a piece of one chain of one key space.
  [[nodiscard]] bool continues(const store::ExportedBlock& block) const;
  [[nodiscard]] Status put_waiting();
  [[nodiscard]] Status put(std::span<store::PutItem> items, store::SpaceId space);
  void explain(const Error& error);
  void explain_size(const Error& error);
  // Goes on to the end of the file, only to know how large its blocks are in all.
  [[nodiscard]] Status measure_rest();

  const Invocation& call_;
  OpenStore& opened_;
  store::ExportReader reader_;
  ImportRoom room_;
  std::uint64_t used_before_ =
      opened_.store->stats().tiers[static_cast<std::size_t>(store::Tier::kFlash)].used_bytes;
  StoreNeed need_;
  bool ended_ = false;  // all blocks were read
  std::uint64_t batch_bytes_max_;
  std::deque<Waiting> waiting_;
  // Taken since a flush: the store need not show them yet.
  std::unordered_set<store::BlockId> recent_;
  std::uint64_t waiting_bytes_ = 0;
  bool flushed_ = false;  // else what was imported may not be there
  std::uint64_t imported_blocks_ = 0;
  std::uint64_t imported_bytes_ = 0;
  std::uint64_t present_blocks_ = 0;
  std::uint64_t conflicting_blocks_ = 0;  // of them, with other bytes
  std::uint64_t other_blocks_ = 0;        // of other tenants than --tenant
};

bool Importer::continues(const store::ExportedBlock& block) const {
  if (waiting_.empty()) return true;
  const store::ExportedBlock& last = waiting_.back().block;
  return block.record.parent == last.record.id &&
         block.names.space.tenant == last.names.space.tenant &&
         block.names.space.layout_fingerprint == last.names.space.layout_fingerprint &&
         waiting_bytes_ + block.record.data_bytes <= batch_bytes_max_;
}

Status Importer::put(std::span<store::PutItem> items, store::SpaceId space) {
  Status status;
  for (unsigned tries = 0; tries < kTriesMax; ++tries) {
    opened_.loop->run(opened_.store->put(items, {.space = space}));
    const auto bad = std::ranges::find_if(items, [](const auto& item) { return !item.status; });
    if (bad == items.end()) return {};
    status = bad->status;
    if (status.error().code != Errc::kBusy) return status;
    FOREBAY_TRY_STATUS(opened_.loop->run(opened_.store->flush()));
  }
  return status;
}

Status Importer::put_waiting() {
  if (waiting_.empty()) return {};
  FOREBAY_TRY(space, opened_.store->register_space(waiting_.front().block.names.space));
  std::vector<store::PutItem> items;
  for (const Waiting& waiting : waiting_) {
    const store::ExportRecord& record = waiting.block.record;
    items.push_back({.id = record.id,
                     .parent = record.parent,
                     .engine_key = waiting.block.names.engine_key,
                     .data = waiting.buffer.lend(),
                     .token_count = record.token_count,
                     .chain_depth = record.chain_depth,
                     .status = {}});
  }
  FOREBAY_TRY_STATUS(put(items, space));
  if (batch_bytes_max_ < kBatchBytesMax || recent_.size() >= kRecentMax) {
    FOREBAY_TRY_STATUS(opened_.loop->run(opened_.store->flush()));
    recent_.clear();
  }
  imported_blocks_ += waiting_.size();
  imported_bytes_ += waiting_bytes_;
  waiting_.clear();
  waiting_bytes_ = 0;
  return {};
}

// A block's bytes never change: where the store has others they stay, and the import has failed.
// What does not prove itself is removed by being read, and imported.
Result<bool> Importer::is_present(const store::ExportedBlock& block, const BlockBuffer& buffer) {
  const store::BlockId& id = block.record.id;
  if (recent_.contains(id)) return true;
  const auto bytes = opened_.store->block_bytes(id);
  if (!bytes) return false;
  const BlockBuffer there(*bytes);
  FOREBAY_TRY(space, opened_.store->register_space(block.names.space));
  const store::MissReason miss = load_block(opened_, space, id, there);
  if (miss == store::MissReason::kCorrupt) return false;
  if (miss != store::MissReason::kNone) {
    return fail(Errc::kIo, "a block that is there already cannot be read");
  }
  if (!std::ranges::equal(there.bytes(), buffer.bytes()) && ++conflicting_blocks_ == 1) {
    tell(
        "import: the store has other bytes under the id {}, and keeps them\n"
        "  hint: a block's bytes never change: another content needs another key\n",
        to_hex(id.digest));
  }
  return true;
}

Status Importer::take(store::ExportedBlock block) {
  BlockBuffer buffer(block.record.data_bytes);
  FOREBAY_TRY_STATUS(reader_.read_data(block, buffer.bytes()));
  if (call_.has("--tenant") && block.names.space.tenant != call_.text("--tenant")) {
    ++other_blocks_;
    return {};
  }
  need_.add(block.record.data_bytes);
  FOREBAY_TRY(present, is_present(block, buffer));
  if (present) {
    ++present_blocks_;
    return {};
  }
  if (!continues(block) || room_.measures_next(block.record.data_bytes)) {
    FOREBAY_TRY_STATUS(put_waiting());
  }
  FOREBAY_TRY_STATUS(room_.take(block.record.data_bytes));
  waiting_bytes_ += block.record.data_bytes;
  recent_.insert(block.record.id);
  waiting_.push_back({std::move(block), std::move(buffer)});
  return {};
}

Status Importer::read_all() {
  ProgressLine line(call_);
  FOREBAY_TRY_STATUS(reader_.begin());
  while (true) {
    FOREBAY_TRY(block, reader_.next());
    ended_ = !block;
    if (ended_) return {};
    FOREBAY_TRY_STATUS(take(std::move(*block)));
    line.show([this] {
      return fmt::format("imported {} blocks, {}", imported_blocks_, format_bytes(imported_bytes_));
    });
  }
}

Status Importer::measure_rest() {
  while (!ended_) {
    FOREBAY_TRY(block, reader_.next());
    ended_ = !block;
    if (ended_) break;
    const BlockBuffer buffer(block->record.data_bytes);
    FOREBAY_TRY_STATUS(reader_.read_data(*block, buffer.bytes()));
    if (call_.has("--tenant") && block->names.space.tenant != call_.text("--tenant")) continue;
    need_.add(block->record.data_bytes);
  }
  return {};
}

void Importer::explain_size(const Error& error) {
  tell("{}: {}\n", call_.arguments()[0], to_string(error));
  if (const std::string limit = limit_hint(error); !limit.empty()) {
    tell_lines(limit);
    return;
  }
  const bool measured = measure_rest().has_value();
  const std::uint64_t size = need_.store_bytes();
  if (measured && size != 0) {
    tell("  hint: a new store of --size {}M takes all blocks of the file{}", size / kMiB,
         used_before_ > 0 ? " and of this store" : "");
  } else if (size == 0) {
    tell("  hint: no store takes a block of {} bytes", need_.data_bytes_max());
  } else {
    tell("  hint: import into a larger store (--size); the file is damaged further on");
  }
  tell("{}\n", error.code == Errc::kNoSpace
                   ? "; or import only one tenant (--tenant), or --evict to let older blocks go"
                   : "");
}

// The place in the file, or the store where that is the trouble; then the remedy.
void Importer::explain(const Error& error) {
  const std::string& file = call_.arguments()[1];
  const std::string& store = call_.arguments()[0];
  if (error.code == Errc::kNoSpace || error.code == Errc::kUnsupported) {
    explain_size(error);
  } else if (error.code == Errc::kVersion) {
    tell(
        "{}:{}: {}\n  hint: export it again with this version, or import it with the one "
        "that made it\n",
        file, reader_.offset_bytes(), to_string(error));
  } else if (error.code == Errc::kCorrupt) {
    tell("{}:{}: {}\n  hint: {}\n", file, reader_.offset_bytes(), to_string(error),
         reader_.offset_bytes() == 0
             ? "make one with `forebay store export`; nothing was imported"
             : "copy or export it again; the blocks before this place are imported");
  } else {
    tell("import {} into {}: {}\n", file, store, to_string(error));
  }
}

bool Importer::run() {
  const Status read = read_all();
  // What came before the trouble is good.
  const Status put = put_waiting();
  const Status flushed = opened_.loop->run(opened_.store->flush());
  flushed_ = flushed.has_value();
  for (const Status& status : {read, put, flushed}) {
    if (status) continue;
    explain(status.error());
    return false;
  }
  return conflicting_blocks_ == 0;
}

nlohmann::ordered_json Importer::json(bool complete) const {
  return {{"blocks", imported_blocks_},
          {"bytes", imported_bytes_},
          {"present_blocks", present_blocks_},
          {"conflicting_blocks", conflicting_blocks_},
          {"other_tenants_blocks", other_blocks_},
          {"skipped_at_export_blocks", reader_.skipped_blocks()},
          {"complete", complete}};
}

std::string Importer::text(bool closed) const {
  std::string text = fmt::format("imported {}{} blocks, {}; {} were there already",
                                 flushed_ && closed ? "" : "at most ", imported_blocks_,
                                 format_bytes(imported_bytes_), present_blocks_);
  if (conflicting_blocks_ > 0) {
    text += fmt::format(", {} of them with other bytes", conflicting_blocks_);
  }
  if (other_blocks_ > 0) text += fmt::format("; {} of other tenants left out", other_blocks_);
  if (reader_.skipped_blocks() > 0) {
    text += fmt::format("; {} were damaged when the file was made", reader_.skipped_blocks());
  }
  return text;
}

int run_import(const Invocation& call) {
  const std::uint64_t size_bytes = asked_size(call);
  auto source = ByteSource::open(call.arguments()[1]);
  if (!source) {
    call.mistakes().add(call.arguments()[1], to_string(source.error()),
                        "name a file that `forebay store export` made, or - for standard input");
  }
  if (const auto refused = call.refuse()) return *refused;
  auto opened = open_store(call.arguments()[0], {.size_bytes = size_bytes});
  if (!opened) return opened.error();
  Importer importer(call, *opened, *source);
  const bool complete = importer.run();
  const bool closed = close_store(*opened);
  if (!complete && !importer.took_any()) unmake_store(std::move(*opened));
  fmt::print("{}\n",
             call.json() ? json_text(importer.json(complete && closed)) : importer.text(closed));
  return complete && closed ? kExitOk : kExitFailed;
}

constexpr std::array<Flag, 3> kImportFlags{{
    {"--tenant", "NAME", "", "only this tenant's blocks"},
    {"--size", "BYTES", "", "make the store at this size when there is none"},
    {"--evict", "", "", "go on when the store is full: older blocks go"},
}};

}  // namespace

const Command kStoreImportCommand{
    .name = "store import",
    .arguments = "STORE FILE",
    .summary = "put the blocks of an export into a store; durable when it ends",
    .details =
        "FILE is - for standard input. Blocks that are there already are read, counted and\n"
        "left as they are; with other bytes than the file's they make the exit code 1. A file "
        "that\n"
        "is damaged or ends early is refused at that place, a full store ends the import: what "
        "came\n"
        "before is kept, and the exit code is 1.",
    .flags = kImportFlags,
    .arguments_min = 2,
    .arguments_max = 2,
    .run = run_import};

}  // namespace forebay::cli

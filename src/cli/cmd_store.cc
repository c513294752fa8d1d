// `forebay store get|put|stat|verify`: one block or the whole store, by path, while nobody serves
// it.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/byte_file.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/open_store.h"
#include "cli/process_limit.h"
#include "cli/standard_error.h"
#include "core/bytes.h"
#include "store/block_walk.h"
#include "store/store_metrics.h"

namespace forebay::cli {
namespace {

store::BlockId id_of(const Invocation& call, const std::string& key) {
  return store::make_block_id({call.text("--tenant"), call.text("--layout")},
                              std::as_bytes(std::span(key)));
}

// A block's bytes; of more than any block has, one too many.
Result<std::string> read_block(const std::string& path) {
  constexpr std::size_t kPieceBytes = 1 << 20;
  constexpr std::size_t kTooMany = store::kBlockBytesMax + std::size_t{1};
  FOREBAY_TRY(source, ByteSource::open(path));
  std::string bytes;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(std::min(before + kPieceBytes, kTooMany));
    const auto rest = std::as_writable_bytes(std::span(bytes).subspan(before));
    FOREBAY_TRY(count, source.read(rest));
    bytes.resize(before + count);
    if (count < rest.size() || bytes.size() == kTooMany) return bytes;
  }
}

// Notes a mistake for what is no block.
std::string block_to_put(const Invocation& call) {
  const std::string& path = call.arguments()[2];
  auto content = read_block(path);
  if (!content) {
    call.mistakes().add(path, fmt::format("cannot be read: {}", to_string(content.error())));
    return {};
  }
  if (content->empty()) call.mistakes().add(path, "is empty");
  if (content->size() > store::kBlockBytesMax) {
    call.mistakes().add(path,
                        fmt::format("has more than {} bytes ({}), the most of any block",
                                    store::kBlockBytesMax, format_bytes(store::kBlockBytesMax)),
                        "cut it into smaller blocks");
  }
  return std::move(*content);
}

int say(const Invocation& call, const nlohmann::ordered_json& json, const std::string& text) {
  fmt::print("{}\n", call.json() ? json_text(json) : text);
  return kExitOk;
}

// Whether the block may be put: nothing is there, the same bytes, or what did not prove itself,
// which reading removed. A block's bytes never change: the store would keep the first and say
// nothing. Says why not.
bool may_put(const std::string& key, OpenStore& opened, store::SpaceId space,
             const store::BlockId& id, std::string_view content) {
  const auto bytes = opened.store->block_bytes(id);
  if (!bytes) return true;
  const BlockBuffer buffer(*bytes);
  const store::MissReason miss = load_block(opened, space, id, buffer);
  if (miss == store::MissReason::kCorrupt) {
    tell("put {}: the store had a damaged block under this key; replaced\n", key);
    return true;
  }
  if (miss != store::MissReason::kNone) {
    tell("put {}: what the store has under this key cannot be read: {}\n", key,
         store::to_string(miss));
    return false;
  }
  if (std::ranges::equal(buffer.bytes(), std::as_bytes(std::span(content)))) return true;
  tell(
      "put {}: the store has other bytes under this key, {} of them, and keeps them\n"
      "  hint: choose another key, --tenant or --layout\n",
      key, *bytes);
  return false;
}

int run_put(const Invocation& call) {
  const std::string& key = call.arguments()[1];
  const std::uint64_t size_bytes = asked_size(call);
  const std::uint64_t tokens = call.count("--tokens");
  if (tokens > std::numeric_limits<std::uint32_t>::max()) {
    call.mistakes().add("--tokens", fmt::format("{} is more than {}", tokens,
                                                std::numeric_limits<std::uint32_t>::max()));
  }
  const std::string parent_hex = call.text("--parent");
  const auto parent = parent_hex.empty() ? store::kNoParent : parse_block_id(parent_hex);
  if (!parent) call.mistakes().add("--parent", "is not a block id (64 hexadecimal digits)");
  if (key.empty() || key.size() > store::kEngineKeyBytesMax) {
    call.mistakes().add("KEY", fmt::format("must have 1 to {} bytes", store::kEngineKeyBytesMax));
  }
  const std::string content = block_to_put(call);
  if (const auto refused = call.refuse()) return *refused;

  auto opened =
      open_store(call.arguments()[0], {.size_bytes = size_bytes, .data_bytes = content.size()});
  if (!opened) return opened.error();
  const auto space = opened->store->register_space({call.text("--tenant"), call.text("--layout")});
  if (!space) {
    tell("--tenant, --layout: {}\n", to_string(space.error()));
    return kExitUsage;
  }
  const store::BlockId id = id_of(call, key);
  if (!may_put(key, *opened, *space, id, content)) {
    (void)close_store(*opened);
    return kExitFailed;
  }
  const BlockBuffer buffer(content.size());
  std::memcpy(buffer.bytes().data(), content.data(), content.size());
  std::array<store::PutItem, 1> items;
  items[0] = {.id = id,
              .parent = *parent,
              .engine_key = std::as_bytes(std::span(key)),
              .data = buffer.lend(),
              .token_count = static_cast<std::uint32_t>(tokens),
              .status = {}};
  opened->loop->run(opened->store->put(items, {.space = *space}));
  const Status flushed = opened->loop->run(opened->store->flush());
  const Status status = items[0].status ? flushed : items[0].status;
  if (!status) tell_failure("put " + key, status.error());
  if (!close_store(*opened) || !status) return kExitFailed;
  const std::string hex = to_hex(id.digest);
  return say(call, {{"id", hex}, {"bytes", content.size()}}, hex);
}

Status write_all(const std::string& path, std::span<const std::byte> bytes) {
  FOREBAY_TRY(sink, ByteSink::open(path));
  FOREBAY_TRY_STATUS(sink.write(bytes));
  return sink.commit();
}

int run_get(const Invocation& call) {
  const std::string& key = call.arguments()[1];
  if (names_store(call.arguments()[0], call.text("--output"))) {
    call.mistakes().add("--output", "is the store itself", "name another file");
  }
  if (const auto refused = call.refuse()) return *refused;
  auto opened = open_store(call.arguments()[0], {.reads_only = true});
  if (!opened) return opened.error();
  const store::BlockId id = id_of(call, key);
  const auto bytes = opened->store->block_bytes(id);
  if (!bytes) {
    tell("get {}: absent (tenant {}, layout {})\n", key, call.text("--tenant"),
         call.text("--layout"));
    return kExitFailed;
  }
  const BlockBuffer buffer(*bytes);
  const auto space = opened->store->register_space({call.text("--tenant"), call.text("--layout")});
  if (!space) return kExitFailed;
  const store::MissReason miss = load_block(*opened, *space, id, buffer);
  if (!close_store(*opened)) return kExitFailed;
  if (miss != store::MissReason::kNone) {
    tell("get {}: {}\n", key, store::to_string(miss));
    if (miss == store::MissReason::kCorrupt) {
      tell(
          "  hint: nothing was changed; `forebay store verify` says where and why, "
          "`forebay store put` of the same bytes replaces it\n");
    }
    return kExitFailed;
  }
  const std::string output = call.text("--output");
  nlohmann::ordered_json json{{"id", to_hex(id.digest)}, {"bytes", *bytes}};
  if (call.json() && output == "-") {
    json["data_hex"] = to_hex(buffer.bytes());
    return say(call, json, "");
  }
  if (const Status written = write_all(output, buffer.bytes()); !written) {
    // What standard output does not take is said once, at the end of the program.
    if (output != "-") {
      tell_failure(output, written.error());
    }
    return kExitFailed;
  }
  json["output"] = output;
  return call.json() ? say(call, json, "") : kExitOk;
}

nlohmann::ordered_json tier_json(const store::StoreStats::TierStats& tier) {
  return {{"block_count", tier.block_count},
          {"used_bytes", tier.used_bytes},
          {"capacity_bytes", tier.capacity_bytes}};
}

// The index knows half of an id; the records' own headers, which a walk reads, know all of it.
nlohmann::ordered_json block_rows(OpenStore& opened) {
  constexpr std::uint64_t kBatchBytes = 16 * kMiB;
  auto rows = nlohmann::ordered_json::array();
  const auto walk = opened.store->walk("");
  while (true) {
    const auto blocks = opened.loop->run(walk->next(kBatchBytes, {}));
    if (blocks.empty()) return rows;
    for (const store::WalkedBlock& block : blocks) {
      rows.push_back({{"id", to_hex(block.id.digest)}, {"bytes", block.data_bytes}});
      if (!block.status) rows.back()["damage"] = to_string(block.status.error());
    }
  }
}

// As who writes would find it: it was opened for reading only, whatever it takes.
store::StoreStats stats_at_rest(const std::string& url, const OpenStore& opened) {
  store::StoreStats stats = opened.store->stats();
  if (stats.flash.mode != store::FlashMode::kReadOnly) return stats;
  const bool writable = takes_writes(url);
  if (writable) stats.flash.mode = store::FlashMode::kReadWrite;
  stats.flash.mode_reason = writable ? "" : "this user or the mount may not write";
  return stats;
}

nlohmann::ordered_json stat_json(const OpenStore& opened, const store::StoreStats& stats) {
  return {{"device", opened.device->describe()},
          {"mode", to_string(stats.flash.mode)},
          {"flash", tier_json(stats.tiers[static_cast<std::size_t>(store::Tier::kFlash)])},
          {"segment_count", stats.flash.segment_count},
          {"free_segment_count", stats.flash.free_segment_count},
          {"recovered_blocks", stats.flash.recovered_blocks},
          {"recovery_ns", stats.flash.recovery_time.count()},
          {"index_bytes", stats.index_bytes},
          {"host_written_bytes_ever", stats.flash.host_written_bytes_ever},
          {"device_written_bytes_ever", stats.flash.device_written_bytes_ever}};
}

std::string stat_text(const OpenStore& opened, const store::StoreStats& stats) {
  const auto& flash = stats.tiers[static_cast<std::size_t>(store::Tier::kFlash)];
  return fmt::format(
      "device     {}\nmode       {}{}{}\nblocks     {}\nused       {} of {}\n"
      "segments   {} ({} free)\nwritten    {} of data, {} to the device, since it was made\n"
      "recovered  {} blocks in {:.1f} ms\nindex      {}",
      opened.device->describe(), to_string(stats.flash.mode),
      stats.flash.mode_reason.empty() ? "" : ": ", stats.flash.mode_reason, flash.block_count,
      format_bytes(flash.used_bytes), format_bytes(flash.capacity_bytes), stats.flash.segment_count,
      stats.flash.free_segment_count, format_bytes(stats.flash.host_written_bytes_ever),
      format_bytes(stats.flash.device_written_bytes_ever), stats.flash.recovered_blocks,
      static_cast<double>(stats.flash.recovery_time.count()) / 1e6,
      format_bytes(stats.index_bytes));
}

int run_stat(const Invocation& call) {
  auto opened = open_store(call.arguments()[0], {.reads_only = true});
  if (!opened) return opened.error();
  const store::StoreStats stats = stats_at_rest(call.arguments()[0], *opened);
  if (call.has("--metrics")) {
    telemetry::MetricsPage page;
    store::add_store_metrics(stats, page);
    if (!close_store(*opened)) return kExitFailed;
    fmt::print("{}", page.text());
    return kExitOk;
  }
  nlohmann::ordered_json json = stat_json(*opened, stats);
  if (call.has("--blocks")) json["blocks"] = block_rows(*opened);
  std::string text = stat_text(*opened, stats);
  if (call.has("--blocks")) {
    for (const auto& row : json["blocks"]) {
      text += fmt::format("\nblock      {} {} bytes", row["id"].get<std::string>(),
                          row["bytes"].get<std::uint64_t>());
    }
  }
  if (!close_store(*opened)) return kExitFailed;
  return say(call, json, text);
}

int run_verify(const Invocation& call) {
  auto opened = open_store(call.arguments()[0], {.reads_only = true});
  if (!opened) return opened.error();
  const auto result = opened->loop->run(opened->store->verify());
  if (!result) {
    tell("verify: {}\n", forebay::to_string(result.error()));
    return kExitFailed;
  }
  auto findings = nlohmann::ordered_json::array();
  for (const auto& finding : result->findings) {
    const bool of_block = finding.id != store::BlockId{};
    const std::string id = to_hex(finding.id.digest);
    findings.push_back({{"offset_bytes", finding.offset_bytes},
                        {"id", of_block ? nlohmann::json(id) : nlohmann::json()},
                        {"reason", finding.reason}});
    if (!call.json()) {
      fmt::print("offset {}: {}{}\n", finding.offset_bytes, of_block ? "block " + id + ": " : "",
                 finding.reason);
    }
  }
  const nlohmann::ordered_json json{{"records", result->records},
                                    {"bytes", result->bytes},
                                    {"bad", result->bad},
                                    {"findings", findings}};
  if (!close_store(*opened)) return kExitFailed;
  (void)say(call, json,
            fmt::format("{} records, {}, {} bad", result->records, format_bytes(result->bytes),
                        result->bad));
  return result->bad == 0 ? kExitOk : kExitFailed;
}

constexpr std::array<Flag, 5> kPutFlags{{
    kTenantFlag,
    kLayoutFlag,
    {"--parent", "ID", "", "the block before this one in its chain"},
    {"--tokens", "COUNT", "0", "tokens that the block holds"},
    {"--size", "BYTES", "", "make the store at this size when there is none"},
}};
constexpr std::array<Flag, 3> kGetFlags{{
    kTenantFlag,
    kLayoutFlag,
    {"--output", "FILE", "-", "where the bytes go; - is standard output"},
}};
constexpr std::array<Flag, 2> kStatFlags{{
    {"--blocks", "", "", "list every block with its id; reads the whole store"},
    {"--metrics", "", "", "print what the store holds as Prometheus reads it"},
}};

}  // namespace

const Command kStorePutCommand{
    .name = "store put",
    .arguments = "STORE KEY FILE",
    .summary = "keep a file's bytes as one block; durable when it ends",
    .details =
        "STORE is a path (a file or raw disk) or a device URL. FILE is - for standard input.\n"
        "Prints the block's id and nothing else: what --parent of the chain's next block takes.\n"
        "A block's bytes never change: other bytes under a key that is there are refused. In a\n"
        "full store blocks of the least worth make room, as they do for an engine.",
    .flags = kPutFlags,
    .arguments_min = 3,
    .arguments_max = 3,
    .run = run_put};
const Command kStoreGetCommand{.name = "store get",
                               .arguments = "STORE KEY",
                               .summary = "print one block, checked; exit 1 on any miss",
                               .details = "",
                               .flags = kGetFlags,
                               .arguments_min = 2,
                               .arguments_max = 2,
                               .run = run_get};
const Command kStoreStatCommand{.name = "store stat",
                                .arguments = "STORE",
                                .summary = "usage, mode and recovery of a store",
                                .details = "",
                                .flags = kStatFlags,
                                .arguments_min = 1,
                                .arguments_max = 1,
                                .run = run_stat};
const Command kStoreVerifyCommand{
    .name = "store verify",
    .arguments = "STORE",
    .summary = "read and check every record; exit 1 when one is bad",
    .details =
        "Names each bad block, its place on the device and the reason. Of a store that no other\n"
        "process has open; whoever has it open scrubs it by Store::verify, beside its work.",
    .flags = {},
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_verify};

}  // namespace forebay::cli

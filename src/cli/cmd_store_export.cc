// `forebay store export`: a store's blocks into one file, parents first, each proven on its way.
#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/byte_file.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/open_store.h"
#include "cli/process_limit.h"
#include "cli/progress_line.h"
#include "cli/standard_error.h"
#include "core/bytes.h"
#include "store/export_stream.h"

namespace forebay::cli {
namespace {

constexpr std::uint64_t kBatchBytes = 16 * kMiB;
constexpr std::size_t kFindingsMax = 1000;

// What an export comes to.
class Exporter {
 public:
  Exporter(const Invocation& call, ByteSink& sink)
      : call_(call),
        sink_(sink),
        writer_([this](std::span<const std::byte> bytes) { return write(bytes); }) {}

  // False after printing why the file could not be written.
  [[nodiscard]] bool run(OpenStore& opened);
  [[nodiscard]] nlohmann::ordered_json json() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool whole() const { return writer_.skipped_blocks() == 0; }

 private:
  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  [[nodiscard]] Status add(const store::WalkedBlock& block);
  void skip(const store::WalkedBlock& block, const Error& why);

  const Invocation& call_;
  ByteSink& sink_;
  Status sunk_;  // the sink's first failure, whatever its code: never the block's
  store::ExportWriter writer_;
  nlohmann::ordered_json skipped_ = nlohmann::ordered_json::array();
};

void Exporter::skip(const store::WalkedBlock& block, const Error& why) {
  writer_.skip();
  const std::string id = to_hex(block.id.digest);
  tell("skipped block {}: {}\n", id, to_string(why));
  if (skipped_.size() < kFindingsMax) {
    skipped_.push_back({{"id", id}, {"reason", to_string(why)}});
  }
}

Status Exporter::write(std::span<const std::byte> bytes) {
  if (sunk_) sunk_ = sink_.write(bytes);
  return sunk_;
}

Status Exporter::add(const store::WalkedBlock& block) {
  Status status = block.status;
  if (status) {
    status = writer_.add(block);
    if (status || !sunk_ || status.error().code != Errc::kInvalid) return status;
  }
  skip(block, status.error());
  return {};
}

bool Exporter::run(OpenStore& opened) {
  const auto walk = opened.store->walk(call_.has("--tenant") ? call_.text("--tenant") : "");
  const std::uint64_t all =
      opened.store->stats().tiers[static_cast<std::size_t>(store::Tier::kFlash)].block_count;
  ProgressLine line(call_);
  Status status = writer_.begin();
  while (status) {
    const auto blocks = opened.loop->run(walk->next(kBatchBytes, {}));
    if (blocks.empty()) break;
    for (const store::WalkedBlock& block : blocks) {
      if (status) status = add(block);
    }
    line.show([&] { return fmt::format("exported {} of {} blocks", writer_.block_count(), all); });
  }
  if (status) status = writer_.end();
  line.wipe();
  // What standard output does not take is said once, at the end of the program.
  if (!status && !sink_.is_standard_output()) {
    tell_failure(call_.arguments()[1], status.error());
  }
  return status.has_value();
}

nlohmann::ordered_json Exporter::json() const {
  return {{"blocks", writer_.block_count()},
          {"bytes", writer_.data_bytes()},
          {"skipped_blocks", writer_.skipped_blocks()},
          {"skipped", skipped_}};
}

std::string Exporter::text() const {
  return fmt::format("exported {} blocks, {}, skipped {}", writer_.block_count(),
                     format_bytes(writer_.data_bytes()), writer_.skipped_blocks());
}

int run_export(const Invocation& call) {
  if (names_store(call.arguments()[0], call.arguments()[1])) {
    call.mistakes().add(call.arguments()[1], "is the store itself", "name another file");
  }
  if (const auto refused = call.refuse()) return *refused;
  auto opened = open_store(call.arguments()[0], {.reads_only = true});
  if (!opened) return opened.error();
  const std::string& path = call.arguments()[1];
  auto sink = ByteSink::open(path);
  if (!sink) {
    tell_failure(path, sink.error());
    return kExitUsage;
  }
  Exporter exporter(call, *sink);
  const bool written = exporter.run(*opened);
  if (!close_store(*opened) || !written) return kExitFailed;
  if (const Status kept = sink->commit(); !kept) {
    if (!sink->is_standard_output()) {
      tell_failure(path, kept.error());
    }
    return kExitFailed;
  }
  if (!exporter.whole()) {
    tell("  hint: `forebay store verify {}` says where the damage is\n", call.arguments()[0]);
  }
  // Standard output may be the export itself.
  fmt::print(sink->is_standard_output() ? stderr : stdout, "{}\n",
             call.json() ? json_text(exporter.json()) : exporter.text());
  return exporter.whole() ? kExitOk : kExitFailed;
}

constexpr std::array<Flag, 1> kExportFlags{{
    {"--tenant", "NAME", "", "only this tenant's blocks"},
}};

}  // namespace

const Command kStoreExportCommand{
    .name = "store export",
    .arguments = "STORE FILE",
    .summary = "copy a store's blocks into a file, to be imported elsewhere",
    .details =
        "FILE is - for standard output. A block that does not prove itself is named and left\n"
        "out; the exit code is then 1. The file is independent of the store's size and\n"
        "geometry (docs/formats/store-export.md).",
    .flags = kExportFlags,
    .arguments_min = 2,
    .arguments_max = 2,
    .run = run_export};

}  // namespace forebay::cli

// `forebay bench disk|store`: our figure and fio's, interleaved, on the same device, size and
// depth.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "block/device_url.h"
#include "cli/bench_disk.h"
#include "cli/bench_guard.h"
#include "cli/bench_rig.h"
#include "cli/bench_store.h"
#include "cli/commands.h"
#include "cli/standard_error.h"
#include "cli/store_size.h"
#include "core/bytes.h"

namespace forebay::cli {
namespace {

struct RowGroup {
  std::string_view name;
  bool sized;  // by --size and --block; the others have a size of their own
  Result<std::vector<BenchRow>> (*measure)(const StoreBench&);
};
constexpr std::array<RowGroup, 7> kStoreGroups{{
    {"read", true, bench_flash_read},
    {"write", true, bench_flash_write},
    {"lookup", false, bench_lookup},
    {"telemetry", true, bench_telemetry},
    {"sim", false, bench_sim},
    {"files", true, bench_files},
    {"reopen", false, bench_reopen},
}};

// Whether a tier holds what the rows fill it with, and lets none of it go.
bool holds_fill(std::uint64_t tier_bytes, std::uint64_t block_bytes, const StoreBench& bench) {
  StoreBench sized = bench;
  sized.size_bytes = tier_bytes;
  const std::uint64_t blocks = fill_bytes(sized) / block_bytes;
  return blocks >= bench.chain_blocks && blocks_held(tier_bytes, block_bytes) >= blocks;
}

// --size where no row of --rows asks for it, or for less than these rows can use.
void check_size(const Invocation& call, const StoreBench& bench,
                std::span<const RowGroup* const> groups) {
  constexpr std::uint64_t kTierMin = 16 * kMiB;
  constexpr std::uint64_t kTierMax = std::uint64_t{1} << 46;
  if (call.mistakes().count() > 0) return;
  if (std::ranges::none_of(groups, &RowGroup::sized)) {
    if (call.has("--size")) {
      call.mistakes().add("--size", fmt::format("is nothing to the rows {}", call.text("--rows")),
                          "leave it out: lookup, sim and reopen have sizes of their own");
    }
    return;
  }
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    if (holds_fill(bench.size_bytes, block_bytes, bench)) continue;
    std::uint64_t enough = kTierMin;
    while (enough < kTierMax && !holds_fill(enough, block_bytes, bench)) enough *= 2;
    const bool can = enough < kTierMax;
    call.mistakes().add(
        can ? "--size" : "--block",
        fmt::format("{} is too small for chains of {} blocks of {}", call.text("--size"),
                    bench.chain_blocks, format_bytes(block_bytes)),
        can ? fmt::format("--size {}M is enough, or name smaller blocks by --block", enough / kMiB)
            : "no store takes blocks as large as that");
  }
}

// What a benchmark makes in its folder.
std::vector<std::string> scratch_of(const StoreBench& bench) {
  std::vector<std::string> paths;
  for (const char* name : {"disk", "fio", "store", "files"}) {
    paths.push_back(fmt::format("{}/forebay-bench.{}", bench.folder, name));
  }
  return paths;
}

// What is there already is somebody's, or another benchmark's.
void check_scratch(const Invocation& call, const StoreBench& bench) {
  for (const std::string& path : scratch_of(bench)) {
    std::error_code absent;
    const auto kind = std::filesystem::symlink_status(path, absent).type();
    if (kind == std::filesystem::file_type::not_found) continue;
    call.mistakes().add(path, "is there already",
                        "remove it where no other benchmark uses it, or name another folder");
  }
}

enum class Disks : std::uint8_t { kRefused, kTaken };

bool takes_disk(const std::string& name, Disks disks) {
  return disks == Disks::kTaken && block::names_disk(name) && !std::filesystem::is_directory(name);
}

// Each side has buffers of so much, of huge pages where there are any.
constexpr std::uint64_t kInFlightMin = 4 * kKiB;
constexpr std::uint64_t kInFlightMax = kGiB;

StoreBench bench_of(const Invocation& call, Disks disks) {
  StoreBench bench;
  bench.folder = call.arguments()[0];
  for (const std::string& text : call.list("--block")) {
    const auto bytes = parse_bytes(text);
    if (!bytes || *bytes < 4 * kKiB || *bytes % (4 * kKiB) != 0) {
      call.mistakes().add("--block", fmt::format("`{}` is not a multiple of 4K", text));
    } else {
      bench.block_bytes.push_back(*bytes);
    }
  }
  bench.in_flight_bytes = call.bytes("--in-flight");
  bench.rounds = call.count("--rounds");
  bench.round_bytes = call.bytes("--round-bytes");
  bench.seed = call.count("--seed");
  if (bench.rounds == 0) call.mistakes().add("--rounds", "must be at least 1");
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    if (block_bytes <= bench.round_bytes) continue;
    call.mistakes().add("--round-bytes",
                        fmt::format("{} is less than one block of {}", call.text("--round-bytes"),
                                    format_bytes(block_bytes)));
    break;
  }
  if (bench.in_flight_bytes < kInFlightMin || bench.in_flight_bytes > kInFlightMax) {
    call.mistakes().add("--in-flight",
                        fmt::format("{} is not from {} to {}", call.text("--in-flight"),
                                    format_bytes(kInFlightMin), format_bytes(kInFlightMax)));
  }
  if (std::filesystem::is_directory(bench.folder)) {
    check_scratch(call, bench);
  } else if (!takes_disk(bench.folder, disks)) {
    call.mistakes().add(bench.folder, "is not a folder",
                        "name a folder on the device to be measured");
  }
  return bench;
}

std::vector<const RowGroup*> groups_of(const Invocation& call) {
  std::vector<const RowGroup*> chosen;
  std::vector<std::string_view> names;
  for (const RowGroup& group : kStoreGroups) names.push_back(group.name);
  for (const std::string& wanted : call.list("--rows")) {
    const auto found = std::ranges::find(kStoreGroups, wanted, &RowGroup::name);
    if (found == kStoreGroups.end()) {
      call.mistakes().add("--rows", fmt::format("no such row `{}`", wanted),
                          suggest(wanted, names));
    } else {
      chosen.push_back(&*found);
    }
  }
  return chosen;
}

int run_bench_store(const Invocation& call) {
  StoreBench bench = bench_of(call, Disks::kRefused);
  bench.size_bytes = call.bytes("--size");
  bench.prefix = call.text("--prefix");
  bench.read_bar = call.number("--read-bar");
  bench.cpu_bar = call.number("--cpu-bar");
  const auto groups = groups_of(call);
  check_size(call, bench, groups);
  if (const auto refused = call.refuse()) return *refused;
  guard_bench(scratch_of(bench));
  int code = kExitOk;
  for (const RowGroup* group : groups) {
    const auto rows = group->measure(bench);
    if (!rows) {
      tell("bench {}: {}\n", group->name, to_string(rows.error()));
      return kExitFailed;
    }
    code = std::max(code, print_rows(*rows, call.json()));
  }
  return code;
}

int run_bench_disk(const Invocation& call) {
  const StoreBench bench = bench_of(call, Disks::kTaken);
  if (const auto refused = call.refuse()) return *refused;
  const bool disk = takes_disk(bench.folder, Disks::kTaken);
  if (!disk) guard_bench(scratch_of(bench));
  const auto rows = disk ? bench_disk_reads(bench, bench.folder) : bench_disk(bench);
  if (!rows) {
    tell("bench disk: {}\n", to_string(rows.error()));
    return kExitFailed;
  }
  return print_rows(*rows, call.json());
}

constexpr Flag kBlockFlag{"--block", "LIST", "256K,1M,2M", "block sizes"};
constexpr Flag kDepthFlag{"--in-flight", "BYTES", "32M", "depth, for us and for fio"};
constexpr Flag kRoundsFlag{"--rounds", "COUNT", "5",
                           "interleaved rounds; the median is the figure"};
constexpr Flag kRoundBytesFlag{"--round-bytes", "BYTES", "1G",
                               "read or written by each side in a round"};
constexpr Flag kSeedFlag{"--seed", "COUNT", "1", "of the order of the reads"};

constexpr std::array<Flag, 10> kStoreFlags{{
    {"--size", "BYTES", "4G",
     "of the flash tier of read, write, telemetry, files; the other rows have their own"},
    kBlockFlag,
    kDepthFlag,
    kRoundsFlag,
    kRoundBytesFlag,
    {"--rows", "LIST", "read,write,lookup,telemetry,files,reopen,sim", "which rows to measure"},
    kSeedFlag,
    {"--prefix", "TEXT", "flash", "begins the names of the rows"},
    {"--read-bar", "RATIO", "0.95", "of the best of fio"},
    {"--cpu-bar", "SECONDS", "0.05", "CPU seconds a GiB of reads; 0: no bar"},
}};
constexpr std::array<Flag, 5> kDiskFlags{
    {kBlockFlag, kDepthFlag, kRoundsFlag, kRoundBytesFlag, kSeedFlag}};

}  // namespace

const Command kBenchStoreCommand{
    .name = "bench store",
    .arguments = "FOLDER",
    .summary = "the store's reads, writes and lookups beside fio's, interleaved",
    .details =
        "The limit of a round is the best of fio random and sequential, with huge and with "
        "4 KiB pages. Exit 1 when a row misses its bar.",
    .flags = kStoreFlags,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_bench_store};

const Command kBenchDiskCommand{
    .name = "bench disk",
    .arguments = "FOLDER|DISK",
    .summary = "the device through our loop beside fio: the limit of everything above it",
    .details =
        "Random reads and flushed writes of --round-bytes, --in-flight bytes deep. Exit 1 when "
        "a row misses its bar. A disk by its path or URL (/dev/nvme0n1, nvme+tcp://HOST/NQN) is "
        "only read, without fio and without a bar: what is on it stays.",
    .flags = kDiskFlags,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_bench_disk};

}  // namespace forebay::cli

// `forebay bench fabric`: NVMe over TCP beside iperf3 on the same loopback, in the same run.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "block/device_url.h"
#include "cli/bench_fabric.h"
#include "cli/commands.h"
#include "cli/standard_error.h"
#include "core/bytes.h"
#include "core/log.h"

namespace forebay::cli {
namespace {

struct RowGroup {
  std::string_view name;
  Result<std::vector<BenchRow>> (*measure)(const FabricBench&);
};
constexpr std::array<RowGroup, 5> kGroups{{
    {"stream", bench_fabric_stream},
    {"digests", bench_fabric_digests},
    {"tls", bench_fabric_tls},
    {"small", bench_fabric_small},
    {"idle", bench_fabric_idle},
}};
constexpr std::uint64_t kDepthMax = 1023;  // of an I/O queue: docs/guides/nvme-tcp.md

void read_sizes(const Invocation& call, FabricBench& bench) {
  for (const std::string& text : call.list("--block")) {
    const auto bytes = parse_bytes(text);
    if (!bytes || *bytes < 4 * kKiB || *bytes % (4 * kKiB) != 0 || *bytes > 16 * kMiB) {
      call.mistakes().add("--block", fmt::format("`{}` is not a multiple of 4K up to 16M", text));
    } else {
      bench.block_bytes.push_back(*bytes);
    }
  }
  for (const std::string& text : call.list("--depth")) {
    std::uint64_t depth = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, depth);
    if (error != std::errc{} || at != end || depth == 0 || depth > kDepthMax) {
      call.mistakes().add("--depth", fmt::format("`{}` is not from 1 to {}", text, kDepthMax));
    } else {
      bench.depths.push_back(depth);
    }
  }
}

FabricBench bench_of(const Invocation& call) {
  FabricBench bench;
  read_sizes(call, bench);
  bench.rounds = call.count("--rounds");
  bench.round_bytes = call.bytes("--round-bytes");
  bench.seed = call.count("--seed");
  if (bench.rounds == 0 || bench.rounds > 1000) {
    call.mistakes().add("--rounds", "must be from 1 to 1000");
  }
  return bench;
}

std::vector<const RowGroup*> groups_of(const Invocation& call) {
  std::vector<const RowGroup*> chosen;
  std::vector<std::string_view> names;
  for (const RowGroup& group : kGroups) names.push_back(group.name);
  for (const std::string& wanted : call.list("--rows")) {
    const auto found = std::ranges::find(kGroups, wanted, &RowGroup::name);
    if (found == kGroups.end()) {
      call.mistakes().add("--rows", fmt::format("no such row `{}`", wanted),
                          suggest(wanted, names));
    } else {
      chosen.push_back(&*found);
    }
  }
  return chosen;
}

int show(const Invocation& call, std::string_view name, const Result<std::vector<BenchRow>>& rows) {
  if (rows) return print_rows(*rows, call.json());
  tell("bench {}: {}\n", name, to_string(rows.error()));
  if (rows.error().code == Errc::kUnsupported) {
    tell("  hint: apt-get install iperf3, or leave the stream rows out by --rows\n");
  }
  return kExitFailed;
}

int run_bench_fabric(const Invocation& call) {
  const FabricBench bench = bench_of(call);
  const auto groups = groups_of(call);
  const bool remote = !call.arguments().empty();
  if (remote && call.has("--rows")) {
    call.mistakes().add("--rows", "means nothing for a target elsewhere: it is read, no more");
  }
  if (const auto refused = call.refuse()) return *refused;
  if (remote) {
    const std::string& url = call.arguments()[0];
    return show(call, "fabric", bench_fabric_remote(bench, url));
  }
  set_log_level(LogLevel::kWarn);  // every connection of our own is no news
  int code = kExitOk;
  for (const RowGroup* group : groups) {
    code = std::max(code, show(call, group->name, group->measure(bench)));
  }
  return code;
}

constexpr std::array<Flag, 6> kFlags{{
    {"--block", "LIST", "128K,1M", "block sizes of the rows stream, digests and tls"},
    {"--depth", "LIST", "1,32,128", "requests in flight of the rows stream"},
    {"--rounds", "COUNT", "5", "interleaved rounds; the median is the figure"},
    {"--round-bytes", "BYTES", "2G", "carried by each side in a round"},
    {"--rows", "LIST", "stream,digests,tls,small,idle", "which rows to measure"},
    {"--seed", "COUNT", "1", "of the order of the requests"},
}};

}  // namespace

const Command kBenchFabricCommand{
    .name = "bench fabric",
    .arguments = "[URL]",
    .summary = "NVMe over TCP beside one stream of iperf3, interleaved",
    .details =
        "Without URL both ends run here, over loopback, on a core each; the target's device keeps "
        "nothing and answers at once. Bars hold for 32 requests in flight. With URL "
        "(nvme+tcp://HOST/NQN) that namespace is read, and nothing is written.",
    .flags = kFlags,
    .arguments_min = 0,
    .arguments_max = 1,
    .run = run_bench_fabric};

}  // namespace forebay::cli

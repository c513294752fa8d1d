#include "cli/bench_fabric.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/bench_target.h"
#include "cli/copy_rate.h"
#include "cli/disk_run.h"
#include "cli/iperf.h"
#include "cli/open_store.h"
#include "cli/ping_pong.h"
#include "core/bytes.h"
#include "core/rng.h"
#include "nvme/auth/crypto.h"

namespace forebay::cli {
namespace {

constexpr double kGigabyte = 1e9;
constexpr std::uint64_t kSmallBytes = 4 * kKiB;
constexpr std::size_t kSmallDepth = 128;
constexpr double kStreamBar = 0.90;
constexpr double kDigestBar = 0.85;
constexpr double kTlsBar = 0.6;  // GB/s, a core each side
constexpr double kIopsBar = 560'000;
constexpr double kLatencyBarUs = 40;
constexpr double kIdleBarPercent = 0.1;
constexpr std::size_t kStreamDepth = 32;

// One host on this thread, connected to a target on another.
struct Pair {
  std::unique_ptr<BenchTarget> target;
  std::unique_ptr<OpenStore> host;

  [[nodiscard]] block::Device& device() const { return *host->device; }
};

Result<Pair> connect(std::string_view query) {
  Pair pair;
  FOREBAY_TRY(target, BenchTarget::start());
  pair.target = std::move(target);
  auto host = open_flash_device(pair.target->url(query), {});
  if (!host) return fail(Errc::kIo, "connect to the bench's own target");
  pair.host = std::make_unique<OpenStore>(std::move(*host));
  return pair;
}

std::vector<std::uint64_t> random_offsets(const block::Device& device, std::uint64_t block_bytes,
                                          std::uint64_t count, Rng& rng) {
  std::vector<std::uint64_t> offsets(count);
  const std::uint64_t blocks = device.geometry().size_bytes / block_bytes;
  for (std::uint64_t& offset : offsets) offset = rng.below(blocks) * block_bytes;
  return offsets;
}

struct Measured {
  double bytes_per_second = 0;
  double cpu_seconds_per_gb = 0;  // of both ends
};

Result<Measured> measure(DiskRun& run, std::vector<std::uint64_t> offsets,
                         std::uint64_t block_bytes) {
  const double gigabytes = static_cast<double>(offsets.size() * block_bytes) / kGigabyte;
  const Nanos before = process_cpu_time();
  FOREBAY_TRY(speed, run.run(std::move(offsets)));
  const auto cpu = std::chrono::duration<double>(process_cpu_time() - before).count();
  return Measured{speed, cpu / gigabytes};
}

std::string size_name(std::uint64_t bytes) {
  return bytes % kMiB == 0 ? fmt::format("{}m", bytes / kMiB) : fmt::format("{}k", bytes / kKiB);
}

struct StreamCase {
  block::RequestKind kind;
  std::uint64_t block_bytes;
  std::size_t depth;
};

Result<BenchRow> stream_row(const FabricBench& bench, const StreamCase& item) {
  FOREBAY_TRY(pair, connect(fmt::format("?depth={}", item.depth)));
  DiskRun run(pair.device(), item.kind, item.block_bytes, item.depth);
  Rng rng(bench.seed);
  const std::uint64_t count = std::max<std::uint64_t>(1, bench.round_bytes / item.block_bytes);
  std::vector<double> ratios;
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ours_cpu;
  std::vector<double> theirs_cpu;
  std::vector<double> copies;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    FOREBAY_TRY(iperf, run_iperf(bench.round_bytes));
    FOREBAY_TRY(one, measure(run, random_offsets(pair.device(), item.block_bytes, count, rng),
                             item.block_bytes));
    ratios.push_back(one.bytes_per_second / iperf.bytes_per_second);
    ours.push_back(one.bytes_per_second / kGigabyte);
    theirs.push_back(iperf.bytes_per_second / kGigabyte);
    ours_cpu.push_back(one.cpu_seconds_per_gb);
    theirs_cpu.push_back(iperf.cpu_seconds_per_gb);
    copies.push_back(copy_bytes_per_second() / kGigabyte);
  }
  const bool write = item.kind == block::RequestKind::kWrite;
  auto row = row_of(fmt::format("fabric-{}-{}-{}", write ? "write" : "read",
                                size_name(item.block_bytes), item.depth),
                    "ratio", ratios);
  if (item.depth == kStreamDepth) {
    row.bar = Bar::kAtLeast;
    row.bar_value = kStreamBar;
  }
  row.reference = fmt::format(
      "ours {:.2f} GB/s, {:.3f} CPU s/GB, p50 {:.0f} us, p99 {:.0f} us; {}, one stream {:.2f} "
      "GB/s, "
      "{:.3f} CPU s/GB; a copy in memory {:.2f} GB/s (medians)",
      median(ours), median(ours_cpu), static_cast<double>(run.latency().quantile(0.5)) / 1e3,
      static_cast<double>(run.latency().quantile(0.99)) / 1e3, iperf_version(), median(theirs),
      median(theirs_cpu), median(copies));
  return row;
}

// Of a target elsewhere: it is only read, and there is no iperf3 to hold it against.
Result<BenchRow> remote_row(const FabricBench& bench, block::Device& device,
                            const StreamCase& item) {
  DiskRun run(device, item.kind, item.block_bytes, item.depth);
  Rng rng(bench.seed);
  const std::uint64_t count = std::max<std::uint64_t>(1, bench.round_bytes / item.block_bytes);
  std::vector<double> speeds;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    FOREBAY_TRY(speed, run.run(random_offsets(device, item.block_bytes, count, rng)));
    speeds.push_back(speed / kGigabyte);
  }
  auto row = row_of(fmt::format("fabric-read-{}-{}", size_name(item.block_bytes), item.depth),
                    "gb_per_s", speeds);
  row.reference = fmt::format("p50 {:.0f} us, p99 {:.0f} us; a copy in memory {:.2f} GB/s",
                              static_cast<double>(run.latency().quantile(0.5)) / 1e3,
                              static_cast<double>(run.latency().quantile(0.99)) / 1e3,
                              copy_bytes_per_second() / kGigabyte);
  return row;
}

Result<BenchRow> digest_row(const FabricBench& bench, std::uint64_t block_bytes) {
  FOREBAY_TRY(plain, connect(fmt::format("?depth={}", kStreamDepth)));
  FOREBAY_TRY(proven,
              connect(fmt::format("?depth={}&header_digest=on&data_digest=on", kStreamDepth)));
  DiskRun without(plain.device(), block::RequestKind::kRead, block_bytes, kStreamDepth);
  DiskRun with(proven.device(), block::RequestKind::kRead, block_bytes, kStreamDepth);
  Rng rng(bench.seed);
  const std::uint64_t count = std::max<std::uint64_t>(1, bench.round_bytes / block_bytes);
  std::vector<double> ratios;
  std::vector<double> speeds;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    const auto offsets = random_offsets(plain.device(), block_bytes, count, rng);
    FOREBAY_TRY(base, without.run(offsets));
    FOREBAY_TRY(speed, with.run(offsets));
    ratios.push_back(speed / base);
    speeds.push_back(speed / kGigabyte);
  }
  auto row = row_of("fabric-digests-" + size_name(block_bytes), "ratio", ratios);
  row.bar = Bar::kAtLeast;
  row.bar_value = kDigestBar;
  row.reference =
      fmt::format("{:.2f} GB/s with header and data digests, over without", median(speeds));
  return row;
}

// A key in a file for as long as it is there.
class KeyFile {
 public:
  explicit KeyFile(const nvme::tls::TlsKey& key)
      : path_((std::filesystem::temp_directory_path() / "forebay-bench-XXXXXX").string()) {
    const int file = ::mkstemp(path_.data());  // for its owner alone
    const std::string text = key.text();
    written_ =
        file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (file >= 0) ::close(file);
  }
  ~KeyFile() { ::unlink(path_.c_str()); }
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;
  [[nodiscard]] bool written() const { return written_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool written_ = false;
};

Result<Pair> connect_tls() {
  using nvme::tls::TlsKey;
  const TlsKey key = TlsKey::make(nvme::tls::PskHash::kSha256, true, nvme::auth::random_bytes);
  const KeyFile file(key);
  if (!file.written()) return fail(Errc::kIo, "write the bench's own key");
  Pair pair;
  FOREBAY_TRY(target, BenchTarget::start(key));
  pair.target = std::move(target);
  const std::string query = fmt::format("?depth={}&host_nqn={}&tls_psk_file={}", kStreamDepth,
                                        BenchTarget::kHostNqn, file.path());
  auto host = open_flash_device(pair.target->url(query), {});
  if (!host) return fail(Errc::kIo, "connect to the bench's own target");
  pair.host = std::make_unique<OpenStore>(std::move(*host));
  return pair;
}

// What both ends carried, and the processor time of each.
Result<BenchRow> tls_row(const FabricBench& bench, block::RequestKind kind,
                         std::uint64_t block_bytes) {
  FOREBAY_TRY(pair, connect_tls());
  DiskRun run(pair.device(), kind, block_bytes, kStreamDepth);
  Rng rng(bench.seed);
  const std::uint64_t count = std::max<std::uint64_t>(1, bench.round_bytes / block_bytes);
  std::vector<double> speeds;
  const Nanos all_before = process_cpu_time();
  const Nanos target_before = pair.target->cpu_time();
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    FOREBAY_TRY(speed, run.run(random_offsets(pair.device(), block_bytes, count, rng)));
    speeds.push_back(speed / kGigabyte);
  }
  const auto seconds = [](Nanos time) { return std::chrono::duration<double>(time).count(); };
  const double target = seconds(pair.target->cpu_time() - target_before);
  const double host = seconds(process_cpu_time() - all_before) - target;
  const double gigabytes = static_cast<double>(bench.rounds * count * block_bytes) / kGigabyte;
  const bool write = kind == block::RequestKind::kWrite;
  auto row =
      row_of(fmt::format("fabric-tls-{}-{}", write ? "write" : "read", size_name(block_bytes)),
             "gb_per_s", speeds);
  row.bar = Bar::kAtLeast;
  row.bar_value = kTlsBar;
  row.reference = fmt::format(
      "{}; a core of the target does {:.2f} GB/s, one of the host {:.2f} GB/s",
      nvme::tls::cipher_suite(nvme::tls::PskHash::kSha256), gigabytes / target, gigabytes / host);
  return row;
}

Result<BenchRow> iops_row(const FabricBench& bench, Pair& pair) {
  constexpr std::uint64_t kReads = 500'000;
  DiskRun run(pair.device(), block::RequestKind::kRead, kSmallBytes, kSmallDepth);
  Rng rng(bench.seed);
  std::vector<double> rates;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    FOREBAY_TRY(speed, run.run(random_offsets(pair.device(), kSmallBytes, kReads, rng)));
    rates.push_back(speed / static_cast<double>(kSmallBytes));
  }
  auto row = row_of("fabric-iops-4k-128", "per_s", rates);
  row.bar = Bar::kAtLeast;
  row.bar_value = kIopsBar;
  row.reference = fmt::format("p50 {:.0f} us, p99 {:.0f} us; null device, one core each side",
                              static_cast<double>(run.latency().quantile(0.5)) / 1e3,
                              static_cast<double>(run.latency().quantile(0.99)) / 1e3);
  return row;
}

// Beside what the machine's own wake-ups take: a command's capsule one way, data and answer back.
Result<BenchRow> latency_row(const FabricBench& bench, Pair& pair) {
  constexpr std::uint64_t kReads = 20'000;
  constexpr PingPong kFloor{
      .request_bytes = 72, .answer_bytes = 24 + kSmallBytes + 24, .count = kReads};
  DiskRun run(pair.device(), block::RequestKind::kRead, kSmallBytes, 1);
  Rng rng(bench.seed);
  std::vector<double> ours;
  std::vector<double> floors;
  std::vector<double> ratios;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    FOREBAY_TRY(floor, ping_pong_us(kFloor));
    FOREBAY_TRY(speed, run.run(random_offsets(pair.device(), kSmallBytes, kReads, rng)));
    ours.push_back(1e6 * static_cast<double>(kSmallBytes) / speed);
    floors.push_back(floor);
    ratios.push_back(ours.back() / floor);
  }
  auto row = row_of("fabric-latency-4k-1", "us", ours);
  row.bar = Bar::kAtMost;
  row.bar_value = kLatencyBarUs;
  row.reference = fmt::format(
      "mean of a round; p50 {:.1f} us, p99 {:.1f} us; two threads that pass as many bytes by "
      "blocking calls over loopback {:.1f} us, ours {:.2f} times that (medians)",
      static_cast<double>(run.latency().quantile(0.5)) / 1e3,
      static_cast<double>(run.latency().quantile(0.99)) / 1e3, median(floors), median(ratios));
  return row;
}

}  // namespace

Result<std::vector<BenchRow>> bench_fabric_stream(const FabricBench& bench) {
  std::vector<BenchRow> rows;
  for (const auto kind : {block::RequestKind::kRead, block::RequestKind::kWrite}) {
    for (const std::uint64_t block_bytes : bench.block_bytes) {
      for (const std::uint64_t depth : bench.depths) {
        FOREBAY_TRY(row, stream_row(bench, {kind, block_bytes, depth}));
        rows.push_back(row);
      }
    }
  }
  return rows;
}

Result<std::vector<BenchRow>> bench_fabric_remote(const FabricBench& bench,
                                                  const std::string& url) {
  auto opened = open_flash_device(url, {.reads_only = true});
  if (!opened) return fail(Errc::kIo, "open the device");
  const block::Geometry& geometry = opened->device->geometry();
  std::vector<BenchRow> rows;
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    if (block_bytes > std::min<std::uint64_t>(geometry.transfer_bytes_max, geometry.size_bytes)) {
      return fail(Errc::kInvalid, "a block of --block is larger than the device takes at once");
    }
    for (const std::uint64_t depth : bench.depths) {
      FOREBAY_TRY(
          row, remote_row(bench, *opened->device, {block::RequestKind::kRead, block_bytes, depth}));
      rows.push_back(row);
    }
  }
  return rows;
}

Result<std::vector<BenchRow>> bench_fabric_digests(const FabricBench& bench) {
  std::vector<BenchRow> rows;
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    FOREBAY_TRY(row, digest_row(bench, block_bytes));
    rows.push_back(row);
  }
  return rows;
}

Result<std::vector<BenchRow>> bench_fabric_tls(const FabricBench& bench) {
  std::vector<BenchRow> rows;
  for (const auto kind : {block::RequestKind::kRead, block::RequestKind::kWrite}) {
    for (const std::uint64_t block_bytes : bench.block_bytes) {
      FOREBAY_TRY(row, tls_row(bench, kind, block_bytes));
      rows.push_back(row);
    }
  }
  return rows;
}

Result<std::vector<BenchRow>> bench_fabric_small(const FabricBench& bench) {
  FOREBAY_TRY(pair, connect(fmt::format("?depth={}", kSmallDepth)));
  FOREBAY_TRY(iops, iops_row(bench, pair));
  FOREBAY_TRY(latency, latency_row(bench, pair));
  return std::vector{iops, latency};
}

Result<std::vector<BenchRow>> bench_fabric_idle(const FabricBench& bench) {
  FOREBAY_TRY(pair, connect(""));
  std::vector<double> percent;
  io::Loop& loop = pair.device().loop();
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    const Nanos start = loop.now();
    const Nanos before = pair.target->cpu_time();
    while (loop.now() - start < std::chrono::seconds(1)) loop.turn();
    const Nanos used = pair.target->cpu_time() - before;
    percent.push_back(100 * std::chrono::duration<double>(used) /
                      std::chrono::duration<double>(loop.now() - start));
  }
  auto row = row_of("fabric-idle", "percent", percent);
  row.bar = Bar::kAtMost;
  row.bar_value = kIdleBarPercent;
  row.reference = "of a core: the target with one host connected that asks for nothing";
  return std::vector{row};
}

}  // namespace forebay::cli

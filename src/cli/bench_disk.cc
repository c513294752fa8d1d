#include "cli/bench_disk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "cli/bench_arena.h"
#include "cli/copy_rate.h"
#include "cli/disk_run.h"
#include "cli/fio.h"
#include "cli/open_store.h"
#include "core/rng.h"

namespace forebay::cli {
namespace {

constexpr double kGigabyte = 1e9;
constexpr double kDiskBar = 0.95;

std::vector<std::uint64_t> offsets_of(const StoreBench& bench, std::uint64_t block_bytes,
                                      Rng& rng) {
  std::vector<std::uint64_t> offsets(bench.round_bytes / block_bytes);
  std::iota(offsets.begin(), offsets.end(), std::uint64_t{0});
  for (std::uint64_t& offset : offsets) offset *= block_bytes;
  std::shuffle(offsets.begin(), offsets.end(), rng);
  return offsets;
}

Result<BenchRow> measure(const StoreBench& bench, block::Device& device, std::uint64_t block_bytes,
                         bool write, bool huge_pages) {
  Rng rng(bench.seed);
  DiskRun ours(device, write ? block::RequestKind::kWrite : block::RequestKind::kRead, block_bytes,
               std::max<std::size_t>(1, bench.in_flight_bytes / block_bytes));
  FioJob job{.path = bench.folder + "/forebay-bench.fio",
             .size_bytes = bench.round_bytes,
             .block_bytes = block_bytes,
             .in_flight_bytes = bench.in_flight_bytes,
             .write = write,
             .huge_pages = huge_pages,
             .seed = bench.seed};
  std::vector<double> ratio;
  std::string label = fio_version();
  double last_ours = 0;
  double last_fio = 0;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    Result<double> speed = 0.0;
    const auto run_ours = [&] {
      const auto one = ours.run(offsets_of(bench, block_bytes, rng));
      if (!one || (speed && *one > *speed)) speed = one;
    };
    if (write) run_ours();
    FOREBAY_TRY(fio, write ? run_fio(job) : best_fio_read(job, &label, run_ours));
    if (!speed) return std::unexpected(speed.error());
    ratio.push_back(*speed / fio.bytes_per_second);
    last_ours = *speed;
    last_fio = fio.bytes_per_second;
  }
  auto row = row_of(fmt::format("disk-{}-{}k", write ? "write" : "read", block_bytes / kKiB),
                    "ratio", ratio);
  row.bar = Bar::kAtLeast;
  row.bar_value = kDiskBar;
  row.reference = fmt::format("ours {:.2f} GB/s, {} {:.2f} GB/s (last round)",
                              last_ours / kGigabyte, label, last_fio / kGigabyte);
  return row;
}

Result<BenchRow> measure_reads(const StoreBench& bench, block::Device& device,
                               std::uint64_t block_bytes) {
  Rng rng(bench.seed);
  const std::size_t depth = std::max<std::size_t>(1, bench.in_flight_bytes / block_bytes);
  DiskRun run(device, block::RequestKind::kRead, block_bytes, depth);
  std::vector<double> speeds;
  std::vector<double> copies;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    copies.push_back(copy_bytes_per_second() / kGigabyte);
    FOREBAY_TRY(speed, run.run(offsets_of(bench, block_bytes, rng)));
    speeds.push_back(speed / kGigabyte);
  }
  auto row = row_of(fmt::format("disk-read-{}k", block_bytes / kKiB), "gb_per_s", speeds);
  row.reference =
      fmt::format("{:.0f} reads a second, {} in flight; a copy in memory {:.2f} GB/s",
                  row.value * kGigabyte / static_cast<double>(block_bytes), depth, median(copies));
  return row;
}

struct Removed {
  std::vector<std::string> paths;
  ~Removed() {
    for (const std::string& path : paths) std::filesystem::remove(path);
  }
};

}  // namespace

Result<std::vector<BenchRow>> bench_disk_reads(const StoreBench& bench, const std::string& url) {
  auto opened = open_flash_device(url, {.reads_only = true});
  if (!opened) return fail(Errc::kIo, "open the device");
  StoreBench sized = bench;
  const block::Geometry& geometry = opened->device->geometry();
  sized.round_bytes = std::min(bench.round_bytes, geometry.size_bytes);
  std::vector<BenchRow> rows;
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    if (block_bytes > geometry.transfer_bytes_max || block_bytes > sized.round_bytes) {
      return fail(Errc::kInvalid, "a block of --block is larger than the device takes at once");
    }
    FOREBAY_TRY(row, measure_reads(sized, *opened->device, block_bytes));
    rows.push_back(row);
  }
  return rows;
}

Result<std::vector<BenchRow>> bench_disk(const StoreBench& bench) {
  const std::string path = bench.folder + "/forebay-bench.disk";
  const Removed files{{path, bench.folder + "/forebay-bench.fio"}};
  auto opened = open_flash_device(path, {.size_bytes = bench.round_bytes});
  if (!opened) return fail(Errc::kIo, "open the bench device");
  const HugePageReserve reserve(bench.in_flight_bytes * 2 + 64 * kMiB);
  std::vector<BenchRow> rows;
  // Writes first: they give both files their contents.
  for (const bool write : {true, false}) {
    for (const std::uint64_t block_bytes : bench.block_bytes) {
      FOREBAY_TRY(row, measure(bench, *opened->device, block_bytes, write, reserve.available()));
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace forebay::cli

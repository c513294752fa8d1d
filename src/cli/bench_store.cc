#include "cli/bench_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/bench_rig.h"
#include "cli/fio.h"
#include "core/crc32c.h"
#include "core/log.h"

namespace forebay::cli {
namespace {

constexpr double kWriteBar = 0.90;  // of fio's flushed write
constexpr double kGigabyte = 1e9;
constexpr std::size_t kManyRequesters = 16;

std::string size_word(std::uint64_t bytes) {
  return bytes >= kMiB ? fmt::format("{}m", bytes / kMiB) : fmt::format("{}k", bytes / kKiB);
}

FioJob fio_job(const StoreBench& bench, std::uint64_t block_bytes, bool huge_pages) {
  return {.path = bench.folder + "/forebay-bench.fio",
          .size_bytes = bench.round_bytes,
          .block_bytes = block_bytes,
          .in_flight_bytes = bench.in_flight_bytes,
          .huge_pages = huge_pages,
          .seed = bench.seed};
}

// Removes fio's file however a benchmark ends.
struct FioFile {
  std::string path;
  ~FioFile() { std::filesystem::remove(path); }
};

// CPU seconds a GiB of what no check can do without: one pass over bytes that are not in cache, as
// those that a device has just written.
double checksum_pass_cpu() {
  constexpr std::size_t kPieceBytes = 2 * kMiB;
  const BenchArena arena(512, kPieceBytes);
  std::uint32_t sum = 0;
  const Nanos start = process_cpu_time();
  for (std::size_t i = 0; i < 512; ++i) sum ^= crc32c({arena.block(i), kPieceBytes});
  const Nanos took = process_cpu_time() - start;
  log_debug("checksum of the pass: {}", sum);  // it was computed
  return std::chrono::duration<double>(took).count();
}

struct ReadSeries {
  std::vector<double> ratio;
  std::vector<double> cpu;
  std::vector<double> ours;
  std::vector<double> fio;
  std::vector<double> fio_cpu;
  std::vector<double> fio_drained;  // waiting for each chain, as one requester does
  std::vector<double> pass;         // CPU s/GiB of checksumming alone
  std::string fio_label;
  std::uint64_t missed = 0;
};

// The best of our runs over the best of fio's, one of ours after each setting of fio.
Status read_round(StoreRig& rig, const FioJob& job, std::size_t requesters, std::uint64_t bytes,
                  ReadSeries& series) {
  double best = 0;
  std::vector<double> cpu;
  const auto run_ours = [&] {
    const ReadOutcome ours = rig.read(requesters, bytes);
    best = std::max(best, ours.bytes_per_second);
    cpu.push_back(ours.cpu_seconds_per_gib);
    series.missed += ours.missed_blocks;
  };
  FOREBAY_TRY(fio, best_fio_read(job, &series.fio_label, run_ours));
  series.ours.push_back(best);
  series.fio.push_back(fio.bytes_per_second);
  series.ratio.push_back(best / fio.bytes_per_second);
  series.cpu.push_back(median(cpu));
  series.fio_cpu.push_back(fio.cpu_seconds_per_gib);
  series.pass.push_back(checksum_pass_cpu());
  return {};
}

// fio as our one requester reads: a chain, and when all of it is there the next.
Status drained_round(const StoreBench& bench, FioJob job, ReadSeries& series) {
  job.drains = true;
  job.in_flight_bytes = bench.chain_blocks * job.block_bytes;
  FOREBAY_TRY(fio, run_fio(job));
  series.fio_drained.push_back(fio.bytes_per_second);
  return {};
}

void add_read_rows(const StoreBench& bench, const std::string& size, std::size_t requesters,
                   const ReadSeries& series, std::vector<BenchRow>& rows) {
  auto row =
      row_of(fmt::format("{}-read-{}-{}", bench.prefix, size, requesters), "ratio", series.ratio);
  row.bar = Bar::kAtLeast;
  row.bar_value = bench.read_bar;
  row.reference = fmt::format("best run of ours {:.2f} GB/s; of {} {:.2f} GB/s",
                              median(series.ours) / kGigabyte, series.fio_label,
                              median(series.fio) / kGigabyte);
  if (!series.fio_drained.empty()) {
    row.reference += fmt::format("; of fio that waits for each {} blocks, without any check {:.2f}",
                                 bench.chain_blocks, median(series.fio_drained) / kGigabyte);
  }
  if (series.missed != 0) {
    row.value = 0;  // a miss is not a fast read
    row.reference += fmt::format("; {} blocks MISSED", series.missed);
  }
  rows.push_back(row);
  auto cpu = row_of(fmt::format("{}-read-cpu-{}-{}", bench.prefix, size, requesters),
                    "cpu_s_per_gib", series.cpu);
  cpu.bar = bench.cpu_bar > 0 ? Bar::kAtMost : Bar::kNone;
  cpu.bar_value = bench.cpu_bar;
  cpu.reference = fmt::format(
      "{:.2f} GB/s a core: all threads of this process and the kernel's for it, every check on; "
      "fio's own thread without any check {:.3f}, "
      "one CRC-32C pass over memory that is not in cache {:.3f}",
      static_cast<double>(kGiB) / kGigabyte / std::max(cpu.value, 1e-9), median(series.fio_cpu),
      median(series.pass));
  rows.push_back(cpu);
}

}  // namespace

Result<std::vector<BenchRow>> bench_flash_read(const StoreBench& bench) {
  std::vector<BenchRow> rows;
  const HugePageReserve reserve(bench.in_flight_bytes * 2 + 64 * kMiB);
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    FOREBAY_TRY(rig, StoreRig::make(rig_options(bench, block_bytes)));
    FOREBAY_TRY(filled, rig->fill(fill_bytes(bench)));
    (void)filled;
    FioJob job = fio_job(bench, block_bytes, reserve.available());
    const FioFile file{job.path};
    job.write = true;
    FOREBAY_TRY(prepared, run_fio(job));
    (void)prepared;
    job.write = false;
    for (const std::size_t requesters : {std::size_t{1}, kManyRequesters}) {
      ReadSeries series;
      // No more than our requesters can ask for at once.
      job.in_flight_bytes = std::min<std::uint64_t>(bench.in_flight_bytes,
                                                    requesters * bench.chain_blocks * block_bytes);
      for (std::size_t round = 0; round < bench.rounds; ++round) {
        FOREBAY_TRY_STATUS(read_round(*rig, job, requesters, bench.round_bytes, series));
        if (requesters == 1) FOREBAY_TRY_STATUS(drained_round(bench, job, series));
      }
      add_read_rows(bench, size_word(block_bytes), requesters, series, rows);
    }
  }
  return rows;
}

Result<std::vector<BenchRow>> bench_flash_write(const StoreBench& bench) {
  std::vector<BenchRow> rows;
  const HugePageReserve reserve(bench.in_flight_bytes * 2 + 64 * kMiB);
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    std::vector<double> ratio;
    std::vector<double> cpu;
    std::string reference;
    FioJob job = fio_job(bench, block_bytes, reserve.available());
    job.write = true;
    job.random = false;
    const FioFile file{job.path};
    FOREBAY_TRY(allocated, run_fio(job));  // the first write pays for the file's blocks
    (void)allocated;
    FOREBAY_TRY(rig, StoreRig::make(rig_options(bench, block_bytes)));
    // The same for the store's file: its extents are unwritten until the log came round once.
    FOREBAY_TRY(touched, rig->fill(bench.size_bytes));
    (void)touched;
    for (std::size_t round = 0; round < bench.rounds; ++round) {
      FOREBAY_TRY(fio, run_fio(job));
      FOREBAY_TRY(ours, rig->fill(bench.round_bytes));
      ratio.push_back(ours.bytes_per_second / fio.bytes_per_second);
      cpu.push_back(ours.cpu_seconds_per_gib);
      reference = fmt::format("ours {:.2f} GB/s, {} {:.2f} GB/s (last round)",
                              ours.bytes_per_second / kGigabyte, fio_version(),
                              fio.bytes_per_second / kGigabyte);
    }
    auto row =
        row_of(fmt::format("{}-write-{}", bench.prefix, size_word(block_bytes)), "ratio", ratio);
    row.bar = Bar::kAtLeast;
    row.bar_value = kWriteBar;
    row.reference = reference;
    rows.push_back(row);
    auto cpu_row = row_of(fmt::format("{}-write-cpu-{}", bench.prefix, size_word(block_bytes)),
                          "cpu_s_per_gib", cpu);
    cpu_row.reference = "to durable, every check made";
    rows.push_back(cpu_row);
  }
  return rows;
}

}  // namespace forebay::cli

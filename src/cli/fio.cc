#include "cli/fio.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/child_output.h"
#include "core/bytes.h"
#include "core/log.h"

namespace forebay::cli {
namespace {

constexpr const char* kHugePagesPath = "/proc/sys/vm/nr_hugepages";
constexpr std::uint64_t kHugePageBytes = 2 * kMiB;

// fio takes several names with `:` between.
std::string fio_name(const std::string& path) {
  std::string name;
  for (const char c : path) {
    if (c == ':' || c == '\\') name += '\\';
    name += c;
  }
  return name;
}

std::vector<std::string> fio_words(const FioJob& job) {
  const std::uint64_t depth =
      std::max<std::uint64_t>(1, job.in_flight_bytes / std::max<std::uint64_t>(1, job.block_bytes));
  const std::string pattern =
      fmt::format("{}{}", job.random ? "rand" : "", job.write ? "write" : "read");
  std::vector<std::string> words{"fio",
                                 "--name=reference",
                                 "--output-format=json",
                                 "--ioengine=io_uring",
                                 "--direct=1",
                                 "--thread",
                                 fmt::format("--filename={}", fio_name(job.path)),
                                 fmt::format("--size={}", job.size_bytes),
                                 fmt::format("--bs={}", job.block_bytes),
                                 fmt::format("--iodepth={}", depth),
                                 fmt::format("--rw={}", pattern),
                                 fmt::format("--randseed={}", job.seed),
                                 fmt::format("--iomem={}", job.huge_pages ? "shmhuge" : "malloc")};
  if (job.write && job.flush_at_end) words.emplace_back("--end_fsync=1");
  if (job.drains) {
    words.push_back(fmt::format("--iodepth_batch_submit={}", depth));
    words.push_back(fmt::format("--iodepth_batch_complete_min={}", depth));
  }
  return words;
}

}  // namespace

Result<FioResult> run_fio(const FioJob& job) {
  const auto output = run_program(fio_words(job));
  if (!output) {
    if (output.error().code == Errc::kNotFound) return fail(Errc::kUnsupported, "fio is missing");
    return std::unexpected(output.error());
  }
  // fio prints notes before the document.
  const std::size_t start = output->text.find('{');
  const auto parsed = nlohmann::json::parse(
      start == std::string::npos ? "" : output->text.substr(start), nullptr, false);
  if (output->status != 0 || parsed.is_discarded()) {
    log_error("fio failed: {}", output->text.substr(0, 500));
    return fail(Errc::kIo, "run fio");
  }
  const auto& report = parsed["jobs"][0];
  const auto& side = report[job.write ? "write" : "read"];
  FioResult result;
  result.bytes_per_second = side["bw_bytes"].get<double>();
  const double bytes = side["io_bytes"].get<double>();
  // Durable writes: the flush at the end is part of the time.
  const double seconds = (job.write ? report["job_runtime"] : side["runtime"]).get<double>() / 1000;
  if (job.write && seconds > 0) result.bytes_per_second = bytes / seconds;
  const double cpu = report["usr_cpu"].get<double>() + report["sys_cpu"].get<double>();
  if (bytes > 0) {
    result.cpu_seconds_per_gib = cpu / 100 * seconds / (bytes / static_cast<double>(kGiB));
  }
  return result;
}

std::string fio_version() {
  const auto output = run_program({"fio", "--version"});
  if (!output || output->status != 0) return "";
  return output->text.substr(0, output->text.find('\n'));
}

Result<FioResult> best_fio_read(FioJob job, std::string* label,
                                const std::function<void()>& after_each) {
  Result<FioResult> best = fail(Errc::kUnsupported, "fio");
  const bool with_huge_pages = job.huge_pages;
  for (const bool random : {true, false}) {
    for (const bool huge : {true, false}) {
      if (huge && !with_huge_pages) continue;
      job.random = random;
      job.huge_pages = huge;
      const auto result = run_fio(job);
      if (!result) return result;
      after_each();
      if (best && best->bytes_per_second >= result->bytes_per_second) continue;
      best = result;
      *label = fmt::format("{} {}, {} pages", fio_version(), random ? "random" : "sequential",
                           huge ? "huge" : "4 KiB");
    }
  }
  return best;
}

HugePageCount::HugePageCount() { std::ifstream(kHugePagesPath) >> count_; }

void HugePageCount::restore() const {
  if (HugePageCount().count_ != count_) std::ofstream(kHugePagesPath) << count_;
}

HugePageReserve::HugePageReserve(std::uint64_t bytes) {
  const std::uint64_t wanted = divide_up(bytes, kHugePageBytes);
  if (before_.count() < wanted) std::ofstream(kHugePagesPath) << wanted;
  available_ = HugePageCount().count() >= wanted;
}

}  // namespace forebay::cli

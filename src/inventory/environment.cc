#include "inventory/environment.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace forebay::inventory {
namespace {

namespace fs = std::filesystem;

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first line, without spaces around it.
std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::uint64_t to_number(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  std::from_chars(text.data() + first, text.data() + text.size(), value);
  return value;
}

std::uint64_t read_number(const std::string& path) { return to_number(read_line(path)); }

// "key : value" or "key=value" lines, the first of each key.
std::string field(const std::string& text, std::string_view key, char separator) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t\"", at + 1);
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(" \t\"") - first + 1);
  }
  return "";
}

// "always [madvise] never": the one in brackets.
std::string chosen(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

// A limit of the nearest cgroup that sets one.
std::string cgroup_limit(const std::string& root, const std::string& file) {
  const std::string limit = read_line(root + "/sys/fs/cgroup/" + file);
  return limit.starts_with("max") ? "" : limit;
}

// The sysfs folder of the whole disk below `path`; "" without one.
std::string disk_folder(const std::string& path) {
  std::error_code error;
  fs::path at = fs::absolute(path, error);
  struct stat facts{};
  while (::stat(at.c_str(), &facts) != 0) {
    if (!at.has_parent_path() || at == at.parent_path()) return "";
    at = at.parent_path();
  }
  const dev_t device = S_ISBLK(facts.st_mode) ? facts.st_rdev : facts.st_dev;
  fs::path folder =
      fs::canonical(fmt::format("/sys/dev/block/{}:{}", major(device), minor(device)), error);
  if (error) return "";
  // A partition's queue is its disk's.
  if (fs::exists(folder / "partition", error)) folder = folder.parent_path();
  return folder.string();
}

std::string nearest_existing(const std::string& path) {
  std::error_code error;
  fs::path at = fs::weakly_canonical(fs::absolute(path, error), error);
  while (!fs::exists(at, error) && at != at.parent_path()) at = at.parent_path();
  return at.string();
}

}  // namespace

MachineFacts capture_machine(const std::string& root) {
  MachineFacts facts;
  facts.os = field(read_all(root + "/etc/os-release"), "PRETTY_NAME", '=');
  facts.kernel = read_line(root + "/proc/sys/kernel/osrelease");
  utsname name{};
  if (uname(&name) == 0) facts.architecture = name.machine;
  const std::string cpu = read_all(root + "/proc/cpuinfo");
  facts.cpu_model = field(cpu, "model name", ':');
  facts.hypervisor = field(cpu, "flags", ':').find("hypervisor") != std::string::npos;
  for (std::size_t at = 0; (at = cpu.find("processor\t", at)) != std::string::npos; ++at) {
    ++facts.logical_cpus;
  }
  const std::string cpus = root + "/sys/devices/system/cpu";
  facts.governor = read_line(cpus + "/cpu0/cpufreq/scaling_governor");
  facts.clock_source =
      read_line(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string memory = read_all(root + "/proc/meminfo");
  facts.memory_bytes = to_number(field(memory, "MemTotal", ':')) * 1024;
  facts.memory_available_bytes = to_number(field(memory, "MemAvailable", ':')) * 1024;
  facts.huge_pages = to_number(field(memory, "HugePages_Total", ':'));
  facts.huge_page_bytes = to_number(field(memory, "Hugepagesize", ':')) * 1024;
  facts.transparent_huge_pages =
      chosen(read_line(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.io_uring_disabled = read_line(root + "/proc/sys/kernel/io_uring_disabled");
  facts.cgroup_cpu_max = cgroup_limit(root, "cpu.max");
  facts.cgroup_memory_max = cgroup_limit(root, "memory.max");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cpus + "/vulnerabilities", error)) {
    facts.mitigations[entry.path().filename().string()] = read_line(entry.path().string());
  }
  return facts;
}

StorageFacts capture_storage(const std::string& path) {
  StorageFacts facts;
  if (const auto mount = find_mount(read_all("/proc/self/mountinfo"), nearest_existing(path))) {
    facts.file_system = mount->file_system;
    facts.mount_options = mount->options;
  }
  const std::string folder = disk_folder(path);
  if (folder.empty()) return facts;
  const std::string queue = folder + "/queue/";
  facts.disk = fs::path(folder).filename().string();
  facts.model = read_line(folder + "/device/model");
  facts.disk_bytes = read_number(folder + "/size") * 512;
  facts.rotational = read_line(queue + "rotational");
  facts.scheduler = chosen(read_line(queue + "scheduler"));
  facts.write_cache = read_line(queue + "write_cache");
  facts.queue_requests = read_number(queue + "nr_requests");
  facts.transfer_bytes_max = read_number(queue + "max_sectors_kb") * 1024;
  facts.logical_block_bytes = read_number(queue + "logical_block_size");
  facts.physical_block_bytes = read_number(queue + "physical_block_size");
  return facts;
}

std::optional<DiskCounters> read_disk_counters(const std::string& path) {
  const std::string folder = disk_folder(path);
  if (folder.empty()) return std::nullopt;
  return parse_disk_stat(read_line(folder + "/stat"));
}

std::optional<DiskCounters> parse_disk_stat(const std::string& stat) {
  // Documentation/block/stat.rst: the third and seventh number count sectors of 512 bytes.
  std::istringstream words(stat);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; words >> number;) numbers.push_back(number);
  if (numbers.size() < 7) return std::nullopt;
  return DiskCounters{.read_bytes = numbers[2] * 512, .written_bytes = numbers[6] * 512};
}

std::optional<Mount> find_mount(const std::string& mountinfo, const std::string& path) {
  // proc(5): id parent major:minor root mount_point options fields... - fs source super_options
  std::optional<Mount> best;
  std::size_t best_length = 0;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skip;
    std::string point;
    std::string options;
    words >> skip >> skip >> skip >> skip >> point >> options;
    while (words >> skip && skip != "-") {
    }
    std::string kind;
    std::string super_options;
    words >> kind >> skip >> super_options;
    const bool inside = point == "/" || path == point || path.starts_with(point + "/");
    if (!words || !inside || point.size() < best_length) continue;
    best_length = point.size();
    best = Mount{.file_system = kind, .options = fmt::format("{} / {}", options, super_options)};
  }
  return best;
}

std::string environment_to_json(const Environment& environment,
                                const std::string& forebay_version) {
  const MachineFacts& m = environment.machine;
  const StorageFacts& s = environment.storage;
  const nlohmann::ordered_json json{{"format", "forebay-environment"},
                                    {"version", 1},
                                    {"forebay_version", forebay_version},
                                    {"compiler", __VERSION__},
                                    {"machine",
                                     {{"os", m.os},
                                      {"kernel", m.kernel},
                                      {"architecture", m.architecture},
                                      {"cpu_model", m.cpu_model},
                                      {"logical_cpus", m.logical_cpus},
                                      {"hypervisor", m.hypervisor},
                                      {"governor", m.governor},
                                      {"clock_source", m.clock_source},
                                      {"memory_bytes", m.memory_bytes},
                                      {"memory_available_bytes", m.memory_available_bytes},
                                      {"huge_pages", m.huge_pages},
                                      {"huge_page_bytes", m.huge_page_bytes},
                                      {"transparent_huge_pages", m.transparent_huge_pages},
                                      {"io_uring_disabled", m.io_uring_disabled},
                                      {"cgroup_cpu_max", m.cgroup_cpu_max},
                                      {"cgroup_memory_max", m.cgroup_memory_max},
                                      {"mitigations", m.mitigations}}},
                                    {"storage",
                                     {{"file_system", s.file_system},
                                      {"mount_options", s.mount_options},
                                      {"disk", s.disk},
                                      {"model", s.model},
                                      {"disk_bytes", s.disk_bytes},
                                      {"rotational", s.rotational},
                                      {"scheduler", s.scheduler},
                                      {"write_cache", s.write_cache},
                                      {"queue_requests", s.queue_requests},
                                      {"transfer_bytes_max", s.transfer_bytes_max},
                                      {"logical_block_bytes", s.logical_block_bytes},
                                      {"physical_block_bytes", s.physical_block_bytes}}}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace forebay::inventory

// What a result was measured on: machine, kernel, memory, and the disk and file system below a
// path.
//
// Everything is self-declared by the kernel (procfs, sysfs); what this host does not tell is an
// empty string or 0. No host name, no address: results are meant to be shown. Blocking: reads small
// files. Threads: any. `root` stands for "/" so that tests can put another machine there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace forebay::inventory {

struct MachineFacts {
  std::string os;      // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;  // release
  std::string architecture;
  std::string cpu_model;
  std::uint32_t logical_cpus = 0;
  bool hypervisor = false;
  std::string governor;  // of CPU 0; "": no frequency control visible
  std::string clock_source;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_available_bytes = 0;
  std::uint64_t huge_pages = 0;
  std::uint64_t huge_page_bytes = 0;
  std::string transparent_huge_pages;
  std::string io_uring_disabled;  // the sysctl; "": this kernel has none
  std::string cgroup_cpu_max;     // "": no limit visible
  std::string cgroup_memory_max;
  std::map<std::string, std::string> mitigations;  // vulnerability -> what the kernel does
};

struct StorageFacts {
  std::string file_system;    // "ext4"
  std::string mount_options;  // of the mount and of the file system
  std::string disk;           // "nvme0n1"; "": not on a disk (tmpfs, overlay)
  std::string model;
  std::uint64_t disk_bytes = 0;
  std::string rotational;  // "0": flash
  std::string scheduler;
  std::string write_cache;
  std::uint64_t queue_requests = 0;
  std::uint64_t transfer_bytes_max = 0;
  std::uint64_t logical_block_bytes = 0;
  std::uint64_t physical_block_bytes = 0;
};

struct Environment {
  MachineFacts machine;
  StorageFacts storage;
};

[[nodiscard]] MachineFacts capture_machine(const std::string& root = "");
// Of the disk that holds `path`, or its nearest existing parent.
[[nodiscard]] StorageFacts capture_storage(const std::string& path);
[[nodiscard]] std::string environment_to_json(const Environment& environment,
                                              const std::string& forebay_version);

// The kernel's own count of what a disk moved, for everybody. Nothing when `path` is on no disk.
struct DiskCounters {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};
[[nodiscard]] std::optional<DiskCounters> read_disk_counters(const std::string& path);

// Pure parts, for tests.
struct Mount {
  std::string file_system;
  std::string options;
};
// The mount of device "major:minor" with the longest mount point that is a prefix of `path`, from
// the text of /proc/self/mountinfo.
[[nodiscard]] std::optional<Mount> find_mount(const std::string& mountinfo,
                                              const std::string& path);
[[nodiscard]] std::optional<DiskCounters> parse_disk_stat(const std::string& stat);

}  // namespace forebay::inventory

#include "inventory/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace forebay::inventory {
namespace {

namespace fs = std::filesystem;

// Another machine, as files.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = testing::TempDir() + "/fake-root-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
  }
  ~FakeRoot() { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] std::string path() const { return root_.string(); }

 private:
  fs::path root_;
};

TEST(Environment, ReadsWhatTheKernelSaysOfTheMachine) {
  FakeRoot root;
  root.put("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  root.put("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
  root.put("proc/cpuinfo",
           "processor\t: 0\nmodel name\t: Some CPU @ 2.10GHz\nflags\t\t: fpu hypervisor lm\n\n"
           "processor\t: 1\nmodel name\t: Some CPU @ 2.10GHz\nflags\t\t: fpu hypervisor lm\n");
  root.put("proc/meminfo",
           "MemTotal:       16384 kB\nMemAvailable:    8192 kB\nHugePages_Total:       4\n"
           "Hugepagesize:       2048 kB\n");
  root.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  root.put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  root.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  root.put("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
  root.put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  root.put("sys/fs/cgroup/memory.max", "max\n");
  const MachineFacts facts = capture_machine(root.path());
  EXPECT_EQ(facts.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(facts.kernel, "6.1.0-13-amd64");
  EXPECT_EQ(facts.cpu_model, "Some CPU @ 2.10GHz");
  EXPECT_EQ(facts.logical_cpus, 2U);
  EXPECT_TRUE(facts.hypervisor);
  EXPECT_EQ(facts.memory_bytes, 16384U * 1024);
  EXPECT_EQ(facts.memory_available_bytes, 8192U * 1024);
  EXPECT_EQ(facts.huge_pages, 4U);
  EXPECT_EQ(facts.huge_page_bytes, 2U << 20);
  EXPECT_EQ(facts.transparent_huge_pages, "madvise");
  EXPECT_EQ(facts.clock_source, "tsc");
  EXPECT_EQ(facts.governor, "performance");
  EXPECT_EQ(facts.mitigations.at("meltdown"), "Not affected");
  EXPECT_EQ(facts.cgroup_cpu_max, "200000 100000");
  EXPECT_EQ(facts.cgroup_memory_max, "");
}

TEST(Environment, WhatAHostDoesNotTellIsEmpty) {
  const FakeRoot root;
  const MachineFacts facts = capture_machine(root.path());
  EXPECT_EQ(facts.cpu_model, "");
  EXPECT_EQ(facts.logical_cpus, 0U);
  EXPECT_EQ(facts.memory_bytes, 0U);
  EXPECT_TRUE(facts.mitigations.empty());
}

TEST(Environment, TheMountOfAPathIsTheDeepestOneAboveIt) {
  const std::string mountinfo =
      "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n"
      "30 22 0:26 / /data rw,noatime shared:2 master:1 - xfs /dev/nvme0n1 rw,inode64\n"
      "31 22 0:27 / /database rw - tmpfs tmpfs rw,size=1024k\n";
  EXPECT_EQ(find_mount(mountinfo, "/data/kv/store")->file_system, "xfs");
  EXPECT_EQ(find_mount(mountinfo, "/data/kv/store")->options, "rw,noatime / rw,inode64");
  EXPECT_EQ(find_mount(mountinfo, "/database/x")->file_system, "tmpfs");
  EXPECT_EQ(find_mount(mountinfo, "/dat")->file_system, "ext4");
  EXPECT_FALSE(find_mount("", "/"));
  EXPECT_FALSE(find_mount("garbage\n22 1 1:1 / /", "/"));
}

TEST(Environment, DiskCountersAreSectorsOf512Bytes) {
  const auto counters = parse_disk_stat("  100 2 2000 30 40 5 600 70 0 80 90");
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->read_bytes, 2000U * 512);
  EXPECT_EQ(counters->written_bytes, 600U * 512);
  EXPECT_FALSE(parse_disk_stat("1 2 3"));
}

TEST(Environment, JsonNamesEveryFactAndNoHost) {
  Environment environment;
  environment.machine.cpu_model = "Some CPU";
  environment.storage.file_system = "ext4";
  const auto json = nlohmann::json::parse(environment_to_json(environment, "9.9"));
  EXPECT_EQ(json.at("forebay_version"), "9.9");
  EXPECT_EQ(json.at("machine").at("cpu_model"), "Some CPU");
  EXPECT_EQ(json.at("storage").at("file_system"), "ext4");
  EXPECT_FALSE(json.at("machine").contains("host_name"));
}

}  // namespace
}  // namespace forebay::inventory

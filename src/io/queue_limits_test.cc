#include "io/queue_limits.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "core/bytes.h"
#include "io/posix.h"

namespace forebay::io {
namespace {

namespace fs = std::filesystem;

// A folder that looks like /sys: one disk 8:0 with a partition 8:1, as the kernel lays them out.
class QueueLimits : public ::testing::Test {
 protected:
  QueueLimits() : root_(fs::path(::testing::TempDir()) / fmt_name()) {
    fs::remove_all(root_);
    const fs::path disk = root_ / "devices/virtual/sda";
    fs::create_directories(disk / "queue");
    fs::create_directories(disk / "sda1");
    fs::create_directories(root_ / "dev/block");
    fs::create_directory_symlink(disk, root_ / "dev/block/8:0");
    fs::create_directory_symlink(disk / "sda1", root_ / "dev/block/8:1");
  }
  ~QueueLimits() override { fs::remove_all(root_); }
  static std::string fmt_name() {
    return std::string("sysfs-") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void say(const char* limit, const char* text) {
    std::ofstream(root_ / "devices/virtual/sda/queue" / limit) << text << "\n";
  }
  std::optional<std::uint32_t> ask(unsigned minor) {
    return queue_transfer_bytes(root_.string(), 8, minor);
  }
  fs::path root_;
};

TEST_F(QueueLimits, AreWhatTheKernelSendsAtOnceAndAPartitionsItsDisks) {
  say("max_sectors_kb", "1280");
  say("max_hw_sectors_kb", "32767");
  EXPECT_EQ(ask(0), 1280 * kKiB);
  EXPECT_EQ(ask(1), 1280 * kKiB);
}

TEST_F(QueueLimits, AreTheHardwaresWhereTheKernelTellsNoOther) {
  say("max_hw_sectors_kb", "127");
  EXPECT_EQ(ask(0), 124 * kKiB);  // whole pages
}

TEST_F(QueueLimits, ThatAreNoNumberOrAbsentAreUnknown) {
  EXPECT_EQ(ask(0), std::nullopt);
  say("max_sectors_kb", "many");
  EXPECT_EQ(ask(0), std::nullopt);
  EXPECT_EQ(ask(7), std::nullopt);
}

TEST_F(QueueLimits, BeyondReasonAreHeldWithinIt) {
  say("max_sectors_kb", "2147483647");
  EXPECT_EQ(ask(0), kGiB);
  say("max_sectors_kb", "1");
  EXPECT_EQ(ask(0), 4 * kKiB);
}

TEST(FileFacts, TellWhereTheLargestTransferIsKnownFrom) {
  const std::string path = ::testing::TempDir() + "file-facts";
  struct stat status{};
  const auto engine = std::move(*make_posix_engine({}));
  const auto file = engine->open(path, {.write = true, .create = true});
  ASSERT_TRUE(file.has_value());
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  const FileFacts& facts = engine->facts(*file);
  const auto limit = queue_transfer_bytes("/sys", major(status.st_dev), minor(status.st_dev));
  EXPECT_EQ(facts.transfer_probed, limit.has_value());
  if (limit) EXPECT_EQ(facts.transfer_bytes_max, *limit);
  EXPECT_GE(facts.transfer_bytes_max, 4 * kKiB);
  engine->close(*file);
  fs::remove(path);
}

TEST(FileFacts, SayWhyAFileIsReadThroughThePageCache) {
  const auto engine = std::move(*make_posix_engine({}));
  const auto file = engine->open("/proc/version", {.direct = true});  // procfs knows no O_DIRECT
  ASSERT_TRUE(file.has_value());
  const FileFacts& facts = engine->facts(*file);
  EXPECT_FALSE(facts.direct);
  EXPECT_NE(facts.why_buffered.find("O_DIRECT"), std::string::npos);
  EXPECT_EQ(facts.align_bytes, 1U);
  EXPECT_FALSE(facts.transfer_probed);
  engine->close(*file);
}

}  // namespace
}  // namespace forebay::io

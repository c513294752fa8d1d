#include "workload/tar_walk.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

using Files = std::map<std::string, std::string>;

Result<Files> walk(std::string archive) {
  TarWalk tar(memory_source(std::move(archive)));
  Files files;
  TarWalk::File file;
  std::array<char, 100> buffer{};
  while (true) {
    FOREBAY_TRY(more, tar.next(file));
    if (!more) return files;
    std::string& content = files[file.name];
    while (true) {
      FOREBAY_TRY(got, tar.read(buffer));
      if (got == 0) break;
      content.append(buffer.data(), got);
    }
    EXPECT_EQ(content.size(), file.size_bytes);
  }
}

const std::string kLong(1500, 'x');

TEST(TarWalk, FilesOfEverySizeComeWhole) {
  const std::string even(512, 'e');
  const auto files =
      walk(tar_of({{"a.json", "short"}, {"b/c.json", kLong}, {"d", ""}, {"e", even}}));
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(*files, (Files{{"a.json", "short"}, {"b/c.json", kLong}, {"d", ""}, {"e", even}}));
}

TEST(TarWalk, WhatIsNotReadIsPassedOver) {
  TarWalk tar(memory_source(tar_of({{"a", kLong}, {"b", "second"}})));
  TarWalk::File file;
  EXPECT_TRUE(tar.next(file).value_or(false));
  EXPECT_TRUE(tar.next(file).value_or(false));
  EXPECT_EQ(file.name, "b");
  EXPECT_FALSE(tar.next(file).value_or(true));
}

TEST(TarWalk, OtherKindsOfEntriesAreNotFiles) {
  std::string archive = tar_of({{"folder", ""}, {"file", "x"}});
  archive[156] = '5';  // the first one becomes a folder, and its checksum follows
  archive.replace(148, 8, "        ");
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(archive[i]);
  archive.replace(148, 6, fmt::format("{:06o}", sum));
  archive[154] = '\0';
  const auto files = walk(archive);
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(*files, (Files{{"file", "x"}}));
}

TEST(TarWalk, DamageAndCutsAreCorrupt) {
  const std::string archive = tar_of({{"a", kLong}});
  std::string damaged = archive;
  damaged[0] = 'b';
  const auto lied = walk(damaged);
  ASSERT_FALSE(lied.has_value());
  EXPECT_EQ(lied.error().code, Errc::kCorrupt);
  for (const std::size_t size : {100U, 600U, 1800U}) {
    const auto files = walk(archive.substr(0, size));
    ASSERT_FALSE(files.has_value()) << size;
    EXPECT_EQ(files.error().code, Errc::kCorrupt);
  }
}

TEST(TarWalk, AnArchiveWithoutItsLastBlocksStillReads) {
  const std::string archive = tar_of({{"a", "x"}});
  const auto files = walk(archive.substr(0, archive.size() - 1024));
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(files->size(), 1U);
}

}  // namespace
}  // namespace forebay::workload

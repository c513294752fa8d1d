#include "workload/recent_map.h"

#include <gtest/gtest.h>

#include "workload/id_set.h"

namespace forebay::workload {
namespace {

TEST(RecentMap, TheLastUsedKeysAreRemembered) {
  RecentMap<int> map(100);
  for (std::uint64_t key = 0; key < 1000; ++key) map[key] = static_cast<int>(key);
  for (std::uint64_t key = 900; key < 1000; ++key) {
    ASSERT_NE(map.find(key), nullptr) << key;
    ASSERT_EQ(*map.find(key), static_cast<int>(key));
  }
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_TRUE(map.forgot());
}

TEST(RecentMap, AKeyInUseOutlivesAnyNumberOfOthers) {
  RecentMap<int> map(10);
  map[7] = 42;
  for (std::uint64_t key = 100; key < 200; ++key) {
    map[key] = 0;
    ASSERT_EQ(map[7], 42);
  }
}

TEST(IdSet, InsertSaysWhetherAnIdIsNew) {
  IdSet set;
  EXPECT_FALSE(set.contains(0));
  for (std::uint64_t id = 0; id < 10'000; ++id) ASSERT_TRUE(set.insert(id * id));
  for (std::uint64_t id = 0; id < 10'000; ++id) ASSERT_FALSE(set.insert(id * id));
  EXPECT_EQ(set.size(), 10'000U);
  EXPECT_TRUE(set.contains(0));
  EXPECT_FALSE(set.contains(2));
}

}  // namespace
}  // namespace forebay::workload

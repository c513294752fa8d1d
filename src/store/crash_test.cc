// Crashes through the whole store: a seeded workload is cut at a random write, by power or by a
// dying process, and opened again. Whatever was flushed is there (>= 99 %), whatever was removed is
// not, and no byte is wrong. FOREBAY_TRIALS raises the number of trials, FOREBAY_SEED
// sets the first; a failure names its seed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "core/bytes.h"
#include "core/log.h"
#include "store/disk_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 6 * kMiB;
constexpr std::uint64_t kChains = 12;
constexpr std::uint64_t kChainBlocksMax = 8;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? otherwise : std::strtoull(wanted, nullptr, 10);
}

struct Totals {
  std::uint64_t acknowledged = 0;
  std::uint64_t lost = 0;
  std::uint64_t crashes = 0;
};

enum class Fate : std::uint8_t { kPut, kAcknowledged, kRemoving, kRemoved };

class CrashTrial {
 public:
  explicit CrashTrial(std::uint64_t seed)
      : seed_(seed),
        rng_(Rng(seed).fork("crash")),
        rig_(options(), kDeviceBytes, seed, parts_of(seed)) {}

  void run(Totals& totals) {
    SCOPED_TRACE(fmt::format("FOREBAY seed {}", seed_));
    ASSERT_TRUE(rig_.open().has_value());
    for (unsigned life = 0; life < 3; ++life) {
      arm();
      for (unsigned step = 0; step < 60 && !dead(); ++step) act();
      totals.crashes += dead();
      writes_left_ = ~std::uint64_t{0};
      const Status opened = rig_.reopen();
      ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
      check(totals);
    }
  }

 private:
  // Each third trial on a stripe: a cut then loses of one append what some disks had not written.
  static std::size_t parts_of(std::uint64_t seed) { return seed % 3 == 0 ? 3 : 1; }
  StoreOptions options() {
    StoreOptions options;
    options.policy = rng_.chance(0.5) ? "lru" : "forebay";
    options.write_back_bytes_max = kMiB;
    if (rng_.chance(0.5)) options.dram_bytes = (8 + rng_.below(64)) * 8192;
    options.flash_options.kill_point = [this] {
      if (writes_left_ == 0) return true;
      --writes_left_;
      return false;
    };
    return options;
  }
  void arm() {
    const std::uint64_t writes = 1 + rng_.below(80);
    if (rng_.chance(0.5)) {
      rig_.engine->cut_power_after_writes(writes);
    } else {
      writes_left_ = writes;
    }
  }
  [[nodiscard]] bool dead() const { return writes_left_ == 0 || rig_.engine->power_is_cut(); }

  void act() {
    const std::uint64_t first = rng_.below(kChains) * 100;
    const std::uint64_t dice = rng_.below(100);
    if (dice < 45) {
      put(first, 1 + rng_.below(kChainBlocksMax));
    } else if (dice < 65) {
      flush();
    } else if (dice < 90) {
      expect_right(rig_.get(first, 1 + rng_.below(kChainBlocksMax)));
    } else {
      remove(first + rng_.below(kChainBlocksMax));
    }
  }
  void put(std::uint64_t first, std::size_t count) {
    const auto statuses = rig_.put(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (statuses[i] && !fates_.contains(first + i)) fates_[first + i] = Fate::kPut;
      // A removed block that was put again may be there or not, until the next flush.
      if (statuses[i] && fates_[first + i] != Fate::kAcknowledged) fates_[first + i] = Fate::kPut;
    }
  }
  void flush() {
    if (!rig_.flush() || dead()) return;
    for (auto& [number, fate] : fates_) {
      const bool is_here = rig_.store->block_bytes(test_id(number)).has_value();
      if (fate == Fate::kPut && is_here) fate = Fate::kAcknowledged;
    }
  }
  void remove(std::uint64_t number) {
    const auto known = fates_.find(number);
    if (known == fates_.end()) return;
    known->second = Fate::kRemoving;
    if (rig_.remove(number) && !dead()) known->second = Fate::kRemoved;
  }
  static void expect_right(const DiskRig::Got& got) { EXPECT_EQ(got.wrong_blocks, 0U); }

  void check(Totals& totals) {
    for (auto& [number, fate] : fates_) {
      const auto got = rig_.get(number, 1);
      expect_right(got);
      const bool is_here = got.misses[0] == MissReason::kNone;
      if (fate == Fate::kRemoved) {
        EXPECT_FALSE(is_here) << "removed block " << number << " is back";
      }
      if (fate == Fate::kAcknowledged) {
        ++totals.acknowledged;
        totals.lost += !is_here;
      }
    }
    // What is here now was read from flash: it is as good as acknowledged. What is not is gone.
    for (auto at = fates_.begin(); at != fates_.end();) {
      const bool is_here = rig_.store->block_bytes(test_id(at->first)).has_value();
      if (is_here) at->second = Fate::kAcknowledged;
      const bool forget = !is_here && at->second != Fate::kRemoved;
      at = forget ? fates_.erase(at) : std::next(at);
    }
  }

  std::uint64_t seed_;
  Rng rng_;
  std::uint64_t writes_left_ = ~std::uint64_t{0};
  DiskRig rig_;
  std::map<std::uint64_t, Fate> fates_;
};

TEST(StoreCrash, LosesNothingFlushedServesNothingWrong) {
  set_log_level(LogLevel::kError);
  Totals totals;
  const std::uint64_t first = number_of("FOREBAY_SEED", 1);
  const std::uint64_t trials = number_of("FOREBAY_TRIALS", 40);
  for (std::uint64_t seed = first; seed < first + trials && !::testing::Test::HasFailure();
       ++seed) {
    CrashTrial(seed).run(totals);
  }
  set_log_level(LogLevel::kInfo);
  EXPECT_GT(totals.crashes, trials);
  EXPECT_GT(totals.acknowledged, trials * 10);
  EXPECT_LE(static_cast<double>(totals.lost), 0.01 * static_cast<double>(totals.acknowledged));
  RecordProperty("crashes", static_cast<int>(totals.crashes));
  RecordProperty("acknowledged", static_cast<int>(totals.acknowledged));
  RecordProperty("lost", static_cast<int>(totals.lost));
}

}  // namespace
}  // namespace forebay::store

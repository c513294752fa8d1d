// A store on a real file: its process killed at a write, a disk that is full, a device that takes
// no writes, a second process that wants the same store. FOREBAY_TRIALS raises the kills (a tenth
// of it), FOREBAY_SEED sets the first; a failure names its seed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include "block/file.h"
#include "core/log.h"
#include "io/posix.h"
#include "store/test_rig.h"

namespace forebay::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDeviceBytes = 24 * kMiB;
constexpr std::size_t kSmallBlockBytes = 8192;
// Of these some tens of chains fill the device.
constexpr std::size_t kLargeBlockBytes = 128 * 1024;
constexpr std::size_t kChainBlocks = 4;
// In hundreds: far fewer chains than fill the device, so that nothing has to go.
constexpr std::uint64_t kChainsMax = 60;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? otherwise : std::strtoull(wanted, nullptr, 10);
}

// A flash-only store, so that what it says was durable.
class FileStore {
 public:
  explicit FileStore(std::size_t block_bytes = kSmallBlockBytes) : block_bytes_(block_bytes) {}
  struct How {
    bool write = true;
    std::function<bool()> kill_point;
  };
  Status open(const std::string& path, How how) {
    block::OpenDevice options;
    options.write = how.write;
    options.create = how.write;
    options.size_bytes = how.write && !fs::exists(path) ? kDeviceBytes : 0;
    FOREBAY_TRY(opened, block::open_file_device(loop_, path, options));
    device_ = std::move(opened);
    StoreOptions wanted;
    wanted.flash = device_.get();
    wanted.policy = "lru";
    wanted.flash_options.format = how.write;
    wanted.flash_options.kill_point = std::move(how.kill_point);
    FOREBAY_TRY(store, loop_.run(Store::open(&loop_, std::move(wanted))));
    store_ = std::move(store);
    space_ = store_->register_space({.tenant = "t", .layout_fingerprint = "layout"}).value();
    return {};
  }
  ~FileStore() {
    store_.reset();
    while (loop_.spawned_count() > 0) loop_.turn();
  }
  Status put(std::uint64_t first) {
    std::deque<TestBuffer> buffers;
    std::vector<PutItem> items(kChainBlocks);
    for (std::size_t i = 0; i < kChainBlocks; ++i) {
      buffers.emplace_back(block_bytes_);
      fill_block(buffers.back().bytes, first + i);
      items[i].id = test_id(first + i);
      items[i].parent = i == 0 ? kNoParent : test_id(first + i - 1);
      items[i].data = buffers.back().lend();
      items[i].token_count = 16;
    }
    loop_.run(store_->put(items, {.space = space_}));
    for (const PutItem& item : items) FOREBAY_TRY_STATUS(item.status);
    return loop_.run(store_->flush());
  }
  struct Got {
    std::size_t right = 0;
    std::size_t wrong = 0;
  };
  Got get(std::uint64_t first) {
    std::deque<TestBuffer> buffers;
    std::vector<GetItem> items(kChainBlocks);
    for (std::size_t i = 0; i < kChainBlocks; ++i) {
      buffers.emplace_back(block_bytes_);
      items[i].id = test_id(first + i);
      items[i].buffer = buffers.back().lend();
    }
    (void)loop_.run(store_->get(items, {.space = space_}));
    Got got;
    std::vector<std::byte> expected(block_bytes_);
    for (std::size_t i = 0; i < kChainBlocks; ++i) {
      if (items[i].miss != MissReason::kNone) continue;
      fill_block(expected, first + i);
      ++(buffers[i].bytes == expected ? got.right : got.wrong);
    }
    return got;
  }
  Status close() { return loop_.run(store_->close()); }
  [[nodiscard]] FlashMode mode() const { return store_->stats().flash.mode; }

 private:
  std::size_t block_bytes_;
  std::unique_ptr<io::Engine> engine_ = std::move(*io::make_posix_engine({.thread_count = 4}));
  io::Loop loop_{*engine_};
  std::unique_ptr<block::Device> device_;
  std::unique_ptr<Store> store_;
  SpaceId space_;
};

// A number that a child leaves behind however it ends.
class SharedNumber {
 public:
  SharedNumber() {
    void* page =
        mmap(nullptr, sizeof(Number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(page, MAP_FAILED);
    number_ = new (page) Number(0);
  }
  ~SharedNumber() { munmap(number_, sizeof(Number)); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  using Number = std::atomic<std::uint64_t>;
  Number& operator*() { return *number_; }

 private:
  Number* number_;
};

// How a child that runs `work` ended: its exit code, or minus the signal.
template <class Work>
int in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class ProcessTest : public ::testing::Test {
 protected:
  ProcessTest()
      : path_(::testing::TempDir() + "forebay-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + "-" +
              std::to_string(getpid())) {
    set_log_level(LogLevel::kOff);
    fs::remove(path_);
  }
  ~ProcessTest() override {
    fs::remove(path_);
    set_log_level(LogLevel::kInfo);
  }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void make_store(std::uint64_t chains) {
    FileStore store;
    ASSERT_TRUE(store.open(path_, {}).has_value());
    for (std::uint64_t chain = 0; chain < chains; ++chain) ASSERT_TRUE(store.put(chain * 100));
    ASSERT_TRUE(store.close().has_value());
  }
  void expect_whole(std::uint64_t chains) {
    FileStore store;
    ASSERT_TRUE(store.open(path_, {}).has_value());
    for (std::uint64_t chain = 0; chain < chains; ++chain) {
      EXPECT_EQ(store.get(chain * 100).right, kChainBlocks) << "chain " << chain;
    }
  }
  std::string path_;
};

// Lives of one store, each ended by SIGKILL at one of its writes: format, append, seal.
TEST_F(ProcessTest, KilledAtAnyWriteItKeepsWhatItAcknowledged) {
  const std::uint64_t first = number_of("FOREBAY_SEED", 1);
  const std::uint64_t trials = number_of("FOREBAY_TRIALS", 120) / 10;
  for (std::uint64_t seed = first; seed < first + trials && !HasFailure(); ++seed) {
    SCOPED_TRACE("FOREBAY seed " + std::to_string(seed));
    Rng rng = Rng(seed).fork("kill");
    SharedNumber acknowledged;
    fs::remove(path_);
    for (int life = 0; life < 3; ++life) {
      const std::uint64_t kill_at = 1 + rng.below(life == 0 ? 8 : 40);
      const int end = in_child([&] {
        std::uint64_t writes = 0;
        FileStore store;
        const auto kill_point = [&] {
          if (++writes == kill_at) (void)raise(SIGKILL);
          return false;
        };
        if (!store.open(path_, {.write = true, .kill_point = kill_point})) return 1;
        while (*acknowledged < kChainsMax) {
          if (!store.put(*acknowledged * 100)) return 2;
          ++*acknowledged;
        }
        return 0;
      });
      ASSERT_EQ(end, -SIGKILL);
      FileStore store;
      ASSERT_TRUE(store.open(path_, {}).has_value());
      for (std::uint64_t chain = 0; chain <= *acknowledged; ++chain) {
        const FileStore::Got got = store.get(chain * 100);
        EXPECT_EQ(got.wrong, 0U);
        if (chain < *acknowledged) EXPECT_EQ(got.right, kChainBlocks) << "chain " << chain;
      }
    }
  }
}

// A child that puts chains from *acknowledged on, closing and opening its store after each tenth,
// until SIGKILL at its `kill_at`-th write.
int put_until_killed(const std::string& path, SharedNumber& acknowledged, std::uint64_t kill_at) {
  return in_child([&] {
    std::uint64_t writes = 0;
    const auto kill_point = [&] {
      if (++writes == kill_at) (void)raise(SIGKILL);
      return false;
    };
    while (writes < kill_at) {
      FileStore store(kLargeBlockBytes);
      if (!store.open(path, {.write = true, .kill_point = kill_point})) return 1;
      for (int chain = 0; chain < 10; ++chain) {
        if (!store.put(*acknowledged * 100)) return 2;
        ++*acknowledged;
      }
      if (!store.close()) return 3;
    }
    return 0;
  });
}

// The device turns over: the last chains are there but for the blocks that stood in the short
// segment of a close, which is the cheapest to reclaim; what had to go is a miss and no wrong byte.
TEST_F(ProcessTest, KilledWhileItReclaimsOrClosesItKeepsTheLast) {
  constexpr std::uint64_t kLastChains = 12;  // a quarter of the device
  const std::uint64_t first = number_of("FOREBAY_SEED", 1);
  const std::uint64_t trials = number_of("FOREBAY_TRIALS", 60) / 10;
  std::uint64_t gone = 0;
  for (std::uint64_t seed = first; seed < first + trials && !HasFailure(); ++seed) {
    SCOPED_TRACE("FOREBAY seed " + std::to_string(seed));
    Rng rng = Rng(seed).fork("kill");
    SharedNumber acknowledged;
    fs::remove(path_);
    for (int life = 0; life < 2; ++life) {
      ASSERT_EQ(put_until_killed(path_, acknowledged, 300 + rng.below(300)), -SIGKILL);
      FileStore store(kLargeBlockBytes);
      ASSERT_TRUE(store.open(path_, {}).has_value());
      std::uint64_t last_blocks = 0;
      for (std::uint64_t chain = 0; chain <= *acknowledged; ++chain) {
        const FileStore::Got got = store.get(chain * 100);
        EXPECT_EQ(got.wrong, 0U) << "chain " << chain;
        const bool last = chain < *acknowledged && chain + kLastChains >= *acknowledged;
        last_blocks += last ? got.right : 0;
        gone += got.right == 0;
      }
      EXPECT_GE(10 * last_blocks, 8 * kLastChains * kChainBlocks);
    }
  }
  EXPECT_GT(gone, 10 * trials);  // or next to nothing was reclaimed
}

TEST_F(ProcessTest, ADiskWithoutRoomRefusesTheStoreAndSaysSo) {
  const int end = in_child([this] {
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4 * kMiB, 4 * kMiB};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    FileStore store;
    const Status opened = store.open(path_, {});
    return !opened && opened.error().code == Errc::kNoSpace ? 0 : 2;
  });
  EXPECT_EQ(end, 0);
}

// A sparse file on a disk that fills up: the kernel refuses the write itself.
TEST_F(ProcessTest, ADiskThatFillsUpLeavesAReadOnlyTierAndWhatWasStored) {
  std::ofstream(path_).put('\0');
  fs::resize_file(path_, kDeviceBytes);
  SharedNumber acknowledged;
  const int end = in_child([&] {
    (void)signal(SIGXFSZ, SIG_IGN);
    FileStore store;
    if (!store.open(path_, {})) return 1;
    for (; *acknowledged < 5; ++*acknowledged) {
      if (!store.put(*acknowledged * 100)) return 2;
    }
    // From here on no file of this process grows beyond its first page, and none is written there.
    const rlimit limit{4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    const Status refused = store.put(5 * 100);
    if (refused) return 4;
    if (store.mode() != FlashMode::kReadOnly) return 5;
    for (std::uint64_t chain = 0; chain < 5; ++chain) {
      if (store.get(chain * 100).right != kChainBlocks) return 6;
    }
    return 0;
  });
  EXPECT_EQ(end, 0);
  EXPECT_EQ(*acknowledged, 5U);
  expect_whole(5);
}

TEST_F(ProcessTest, AReadOnlyDeviceIsAReadOnlyTierAndNotOneByteChanges) {
  make_store(5);
  const std::string before = content();
  {
    FileStore store;
    ASSERT_TRUE(store.open(path_, {.write = false, .kill_point = {}}).has_value());
    for (std::uint64_t chain = 0; chain < 5; ++chain) {
      EXPECT_EQ(store.get(chain * 100).right, kChainBlocks);
    }
    EXPECT_EQ(store.mode(), FlashMode::kReadOnly);
    const Status refused = store.put(5 * 100);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Errc::kReadOnly);
    EXPECT_TRUE(store.close().has_value());
  }
  EXPECT_TRUE(content() == before);
}

TEST_F(ProcessTest, ASecondProcessIsToldThatTheStoreIsOpenAndHarmsNothing) {
  make_store(5);
  {
    FileStore store;
    ASSERT_TRUE(store.open(path_, {}).has_value());
    const int end = in_child([this] {
      FileStore second;
      const Status opened = second.open(path_, {});
      return !opened && opened.error().code == Errc::kExists ? 0 : 1;
    });
    EXPECT_EQ(end, 0);
    EXPECT_TRUE(store.put(5 * 100).has_value());
  }
  expect_whole(6);
}

}  // namespace
}  // namespace forebay::store

// One promise for every arm's backend: what was saved and kept comes back byte for byte, as a
// leading run; anything else is a shorter run; nothing hangs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/bytes.h"
#include "engine/backend_files.h"
#include "engine/backend_none.h"
#include "engine/backend_store.h"
#include "engine/content.h"
#include "engine/fake_backend.h"
#include "engine/prompt_blocks.h"
#include "io/huge_memory.h"

namespace forebay::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 70000;  // not a multiple of a page: tails count
const store::KeySpace kSpace{"tenant", "layout"};

// In memory where the host has such a file system: the promises are about bytes, not about disks.
fs::path fast_folder() {
  return ::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path();
}

class Folder {
 public:
  explicit Folder(const fs::path& where = fast_folder()) {
    std::string pattern = (where / "forebay-files-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    return found;
  }

 private:
  fs::path path_;
};

enum class Kind : std::uint8_t { kStoreDram, kStoreFlash, kFiles, kFilesSpread, kFilesBehindDram };

struct Rig {
  std::unique_ptr<io::Engine> engine = *io::make_engine(io::EngineChoice::kPosix);
  io::Loop loop{*engine};
  Folder folder;
  FilesOptions files{
      .directory = (folder.path() / "blocks").string(), .read_threads = 2, .write_threads = 2};
  io::HugeMemory memory = *io::HugeMemory::map(64 * round_up(kBlockBytes, 4096));
  std::unique_ptr<block::Device> device;
  std::unique_ptr<KvBackend> backend;

  std::unique_ptr<BackendStore> dram_and_flash(std::uint64_t dram_bytes) {
    auto opened = block::open_device(loop, (folder.path() / "flash").string(),
                                     {.size_bytes = 64 * kMiB, .write = true, .create = true});
    EXPECT_TRUE(opened) << to_string(opened.error());
    device = std::move(*opened);
    return dram(dram_bytes);
  }
  std::unique_ptr<BackendStore> dram(std::uint64_t bytes) {
    store::StoreOptions options;
    options.dram_bytes = bytes;
    options.flash = device.get();
    options.flash_options.format = true;
    options.policy = "lru";  // as engines' own tiers; the tests say what stays
    auto opened = loop.run(store::Store::open(&loop, options));
    EXPECT_TRUE(opened) << to_string(opened.error());
    return *BackendStore::make(&loop, "dram", std::move(*opened), kSpace);
  }
  void open(Kind kind) {
    switch (kind) {
      case Kind::kStoreDram:
        backend = dram(4 * kMiB);
        return;
      case Kind::kStoreFlash:
        backend = dram_and_flash(2 * kMiB);
        return;
      case Kind::kFilesSpread:
        files.blocks_per_job = 1;
        [[fallthrough]];
      case Kind::kFiles:
        backend = open_files(nullptr);
        return;
      case Kind::kFilesBehindDram:
        backend = open_files(dram(4 * kMiB));
        return;
    }
  }
  std::unique_ptr<BackendFiles> open_files(std::unique_ptr<BackendStore> in_front) {
    auto made = BackendFiles::make(&loop, "files", files, std::move(in_front));
    EXPECT_TRUE(made) << to_string(made.error());
    return std::move(*made);
  }

  std::vector<KvBlock> chain(std::uint64_t first_id, std::uint32_t count, bool filled) {
    workload::Request request;
    request.block_tokens = 10;
    request.input_tokens = 10 * count;
    for (std::uint32_t i = 0; i < count; ++i) request.block_ids.push_back(first_id + i);
    const PromptBlocks named = prompt_blocks(request, 10, kSpace);
    std::vector<KvBlock> blocks;
    for (std::uint32_t i = 0; i < count; ++i) {
      KvBlock block;
      block.id = named.ids[i];
      block.parent = i == 0 ? store::kNoParent : named.ids[i - 1];
      block.name = named.names[i];
      block.token_count = 10;
      block.chain_depth = i;
      block.bytes = memory.bytes().subspan(i * round_up(kBlockBytes, 4096), kBlockBytes);
      block.owner = std::shared_ptr<const void>(std::make_shared<int>());
      if (filled) {
        fill_content(block.bytes, content_key(1, block.name, 2));
      } else {
        std::ranges::fill(block.bytes, std::byte{0x5a});
      }
      blocks.push_back(std::move(block));
    }
    return blocks;
  }
  static std::vector<store::BlockId> ids(std::span<const KvBlock> blocks) {
    std::vector<store::BlockId> all;
    for (const KvBlock& block : blocks) all.push_back(block.id);
    return all;
  }
  static std::size_t wrong_blocks(std::span<const KvBlock> blocks) {
    std::size_t wrong = 0;
    for (const KvBlock& block : blocks) {
      if (check_content(block.bytes, content_key(1, block.name, 2))) ++wrong;
    }
    return wrong;
  }
  void save(std::uint64_t first_id, std::uint32_t count) {
    auto blocks = chain(first_id, count, true);
    loop.run(backend->save(blocks, 1));
  }
  KvLookup lookup(std::uint64_t first_id, std::uint32_t count) {
    return backend->lookup(ids(chain(first_id, count, false)));
  }
  // Loads `count` blocks and checks the bytes of what was delivered.
  KvLoad load(std::uint64_t first_id, std::uint32_t count, Nanos within = std::chrono::seconds(5)) {
    auto blocks = chain(first_id, count, false);
    const KvLoad report = loop.run(backend->load(blocks, 7, loop.now() + within));
    EXPECT_LE(report.leading_blocks, count);
    EXPECT_EQ(wrong_blocks(std::span(blocks).first(report.leading_blocks)), 0U);
    await_release(blocks);
    return report;
  }
  // The backend lets go of every buffer in the end; until then the memory is a device's.
  void await_release(std::vector<KvBlock>& blocks) {
    std::vector<std::weak_ptr<const void>> leases;
    for (KvBlock& block : blocks) leases.emplace_back(block.owner);
    blocks.clear();
    const Nanos until = loop.now() + std::chrono::seconds(10);
    while (std::ranges::any_of(leases, [](const auto& lease) { return !lease.expired(); })) {
      ASSERT_LT(loop.now().count(), until.count());
      loop.turn();
    }
  }
};

class Backend : public ::testing::TestWithParam<Kind> {
 protected:
  Backend() { rig.open(GetParam()); }
  ~Backend() override {
    if (rig.backend) rig.loop.run(rig.backend->close());
  }
  Rig rig;
};

TEST_P(Backend, KnowsNothingAtFirst) {
  EXPECT_EQ(rig.lookup(0, 4).present_blocks, 0U);
  EXPECT_EQ(rig.lookup(0, 4).worth_blocks, 0U);
  EXPECT_EQ(rig.load(0, 4).leading_blocks, 0U);
  EXPECT_EQ(rig.backend->lookup({}).present_blocks, 0U);
}

TEST_P(Backend, ReturnsWhatWasSavedByteForByte) {
  rig.save(0, 6);
  rig.loop.run(rig.backend->drain());
  EXPECT_EQ(rig.lookup(0, 6).present_blocks, 6U);
  const KvLoad report = rig.load(0, 6);
  EXPECT_EQ(report.leading_blocks, 6U);
  std::uint64_t bytes = 0;
  std::size_t blocks = 0;
  for (std::size_t tier = 0; tier < store::kTierCount; ++tier) {
    bytes += report.bytes_by_tier[tier];
    blocks += report.blocks_by_tier[tier];
  }
  EXPECT_EQ(blocks, 6U);
  EXPECT_EQ(bytes, 6 * kBlockBytes);
}

TEST_P(Backend, FindsTheLeadingRunOfALongerChain) {
  rig.save(0, 3);
  rig.loop.run(rig.backend->drain());
  EXPECT_EQ(rig.lookup(0, 8).present_blocks, 3U);
  EXPECT_EQ(rig.load(0, 8).leading_blocks, 3U);
}

TEST_P(Backend, ATailWithoutItsHeadIsNoRun) {
  auto blocks = rig.chain(0, 6, true);
  rig.loop.run(rig.backend->save(std::span(blocks).subspan(2), 1));
  rig.loop.run(rig.backend->drain());
  EXPECT_EQ(rig.lookup(0, 6).present_blocks, 0U);
  // The engine asks for a tail when it has the head itself.
  const auto ids = Rig::ids(blocks);
  EXPECT_EQ(rig.backend->lookup(std::span(ids).subspan(2)).present_blocks, 4U);
}

TEST_P(Backend, SavingTwiceIsSavingOnce) {
  rig.save(0, 4);
  rig.save(0, 4);
  rig.loop.run(rig.backend->drain());
  EXPECT_EQ(rig.load(0, 4).leading_blocks, 4U);
  const auto stats = rig.backend->stats();
  std::uint64_t most = 0;
  for (const auto& tier : stats.tiers) most = std::max(most, tier.block_count);
  EXPECT_EQ(most, 4U);
}

TEST_P(Backend, AnExpiredDeadlineEndsAtOnceAndClaimsNothingWrong) {
  rig.save(0, 6);
  rig.loop.run(rig.backend->drain());
  (void)rig.load(0, 6, Nanos(-1));
  EXPECT_EQ(rig.load(0, 6).leading_blocks, 6U);
}

TEST_P(Backend, AfterAnInterruptEverythingEndsSoon) {
  rig.save(0, 2);
  rig.backend->interrupt();
  (void)rig.load(0, 2);
  rig.save(10, 2);
  rig.loop.run(rig.backend->drain());
}

TEST_P(Backend, LogsEachOperationOnce) {
  rig.save(0, 4);
  rig.loop.run(rig.backend->drain());
  (void)rig.load(0, 4);
  rig.loop.run(rig.backend->drain());
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  for (const KvOp& op : rig.backend->take_ops()) {
    EXPECT_LE(op.start, op.end);
    if (op.op_id == 7 && !op.write) read_bytes += op.bytes;
    if (op.op_id == 1 && op.write) written_bytes = std::max(written_bytes, op.bytes);
  }
  EXPECT_EQ(read_bytes, 4 * kBlockBytes);
  EXPECT_EQ(written_bytes, 4 * kBlockBytes);
  EXPECT_TRUE(rig.backend->take_ops().empty());
}

TEST_P(Backend, KeepsWithinItsMemoryAndServesWhatIsLeft) {
  for (std::uint64_t i = 0; i < 4; ++i) rig.save(100 * i, 20);
  rig.loop.run(rig.backend->drain());
  const auto stats = rig.backend->stats();
  const auto& dram = stats.tiers[static_cast<std::size_t>(store::Tier::kDram)];
  EXPECT_LE(dram.used_bytes, dram.capacity_bytes);
  EXPECT_EQ(rig.load(300, 20).leading_blocks, 20U);  // the newest
}

INSTANTIATE_TEST_SUITE_P(All, Backend,
                         ::testing::Values(Kind::kStoreDram, Kind::kStoreFlash, Kind::kFiles,
                                           Kind::kFilesSpread, Kind::kFilesBehindDram),
                         [](const auto& info) -> std::string {
                           switch (info.param) {
                             case Kind::kStoreDram:
                               return "StoreDram";
                             case Kind::kStoreFlash:
                               return "StoreFlash";
                             case Kind::kFiles:
                               return "Files";
                             case Kind::kFilesSpread:
                               return "FilesSpread";
                             case Kind::kFilesBehindDram:
                               return "FilesBehindDram";
                           }
                           return "";
                         });

TEST(BackendNone, HasNothingAndKeepsNothing) {
  Rig rig;
  rig.backend = std::make_unique<BackendNone>();
  rig.save(0, 4);
  EXPECT_EQ(rig.lookup(0, 4).present_blocks, 0U);
  EXPECT_EQ(rig.load(0, 4).leading_blocks, 0U);
  EXPECT_TRUE(rig.backend->take_ops().empty());
}

// Without bytes to move an op is cheap: a load of what is not there.
TEST(BackendStore, CountsTheOpsThatFellOutOfItsLog) {
  Rig rig;
  rig.backend = rig.dram(4 * kMiB);
  for (std::size_t i = 0; i < OpRing::kOpsMax + 2; ++i) (void)rig.load(0, 1);
  EXPECT_EQ(rig.backend->dropped_ops(), 2U);
  EXPECT_EQ(rig.backend->take_ops().size(), OpRing::kOpsMax);
}

TEST(BackendFiles, HoldsItsDirectoryToTheBudgetOldestFirst) {
  Rig rig;
  rig.files.capacity_bytes = 10 * round_up(kBlockBytes, 4096);
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 4);
  rig.save(100, 4);
  (void)rig.load(0, 4);  // now newer than 100..
  rig.save(200, 4);
  rig.loop.run(rig.backend->drain());
  EXPECT_EQ(rig.folder.files().size(), 10U);
  EXPECT_EQ(rig.backend->stats().tiers[2].used_bytes, rig.files.capacity_bytes);
  EXPECT_EQ(rig.lookup(0, 4).present_blocks, 4U);
  EXPECT_EQ(rig.lookup(100, 4).present_blocks, 2U);  // lost its tail, not its head
  EXPECT_EQ(rig.lookup(200, 4).present_blocks, 4U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, AChainBeyondTheBudgetKeepsItsHead) {
  Rig rig;
  rig.files.capacity_bytes = 3 * round_up(kBlockBytes, 4096);
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 8);
  EXPECT_EQ(rig.folder.files().size(), 3U);
  EXPECT_EQ(rig.lookup(0, 8).present_blocks, 3U);
  EXPECT_EQ(rig.load(0, 8).leading_blocks, 3U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, FindsTheFilesOfAnEarlierRunAndTheirUse) {
  Rig rig;
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 5);
  rig.loop.run(rig.backend->close());
  std::ofstream(rig.folder.path() / "blocks" / "half.3.tmp") << "half";
  rig.backend = rig.open_files(nullptr);
  EXPECT_EQ(rig.backend->stats().tiers[2].block_count, 5U);
  EXPECT_EQ(rig.load(0, 5).leading_blocks, 5U);
  EXPECT_EQ(rig.folder.files().size(), 5U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, AFileCutShortIsAMiss) {
  Rig rig;
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 3);
  for (const auto& file : rig.folder.files()) fs::resize_file(file, 8192);
  EXPECT_EQ(rig.load(0, 3).leading_blocks, 0U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, AFileThatVanishesIsAMissAndIsWrittenAgain) {
  Rig rig;
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 3);
  for (const auto& file : rig.folder.files()) fs::remove(file);
  EXPECT_EQ(rig.load(0, 3).leading_blocks, 0U);
  rig.save(0, 3);
  EXPECT_EQ(rig.load(0, 3).leading_blocks, 3U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, OnAnOrdinaryFileSystemItIsTheSame) {
  Rig rig;
  const Folder ordinary(fs::temp_directory_path());
  rig.files.directory = (ordinary.path() / "blocks").string();
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 5);
  EXPECT_EQ(ordinary.files().size(), 5U);
  EXPECT_EQ(rig.load(0, 5).leading_blocks, 5U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, WithoutDirectIoItIsTheSame) {
  Rig rig;
  rig.files.direct = false;
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 5);
  EXPECT_EQ(rig.load(0, 5).leading_blocks, 5U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, AFullQueueRefusesAndSaysSo) {
  Rig rig;
  rig.files.jobs_max = 0;
  rig.backend = rig.open_files(nullptr);
  rig.save(0, 3);
  EXPECT_EQ(rig.lookup(0, 3).present_blocks, 0U);
  EXPECT_EQ(rig.load(0, 3).leading_blocks, 0U);
  EXPECT_EQ(rig.backend->stats().put_refused_blocks, 3U);
  EXPECT_EQ(rig.backend->stats().tiers[2].used_bytes, 0U);
  rig.loop.run(rig.backend->close());
}

TEST(BackendFiles, ADirectoryThatCannotBeMadeIsAnError) {
  Rig rig;
  std::ofstream(rig.folder.path() / "blocks") << "a file";
  EXPECT_FALSE(BackendFiles::make(&rig.loop, "files", rig.files, nullptr));
}

TEST(BackendFiles, WhatDramDroppedComesFromFilesAndGoesBackIntoDram) {
  Rig rig;
  rig.open(Kind::kFilesBehindDram);  // 4 MiB of DRAM: 59 blocks at most
  rig.save(0, 40);
  rig.save(1000, 40);
  const auto dram = static_cast<std::size_t>(store::Tier::kDram);
  const auto files = static_cast<std::size_t>(store::Tier::kFlash);
  const KvLoad first = rig.load(0, 40);
  EXPECT_EQ(first.leading_blocks, 40U);
  EXPECT_GT(first.blocks_by_tier[files], 0U);
  rig.loop.run(rig.backend->drain());
  const KvLoad second = rig.load(0, 40);
  EXPECT_EQ(second.leading_blocks, 40U);
  EXPECT_GT(second.blocks_by_tier[dram], first.blocks_by_tier[dram]);
  rig.loop.run(rig.backend->close());
}

}  // namespace
}  // namespace forebay::engine

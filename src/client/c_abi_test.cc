#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "forebay/forebay.h"

namespace {

struct Folder {
  std::string path = std::filesystem::temp_directory_path() / "forebay-c-abi-XXXXXX";
  Folder() {
    if (mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

forebay_store_options options_for(const std::string& flash) {
  forebay_store_options options{};
  options.struct_bytes = sizeof options;
  options.flash = flash.c_str();
  options.flash_bytes = 64 << 20;
  options.tenant = "team";
  options.layout = "model-a;fp16;16";
  return options;
}

TEST(CAbi, KeepsABlockOverCloseAndOpen) {
  const Folder folder;
  const std::string path = folder.path + "/kv.store";
  const auto options = options_for(path);
  std::vector<std::uint8_t> bytes(200'000, 0x5a);
  forebay_block block{};
  block.key = "chat-1";
  block.key_bytes = 6;
  block.data = bytes.data();
  block.data_bytes = bytes.size();
  block.token_count = 16;

  forebay_store* store = nullptr;
  ASSERT_EQ(forebay_store_open(&options, &store), FOREBAY_OK);
  ASSERT_EQ(forebay_block_id_of(store, "chat-1", 6, &block.id), FOREBAY_OK);
  ASSERT_EQ(forebay_store_put(store, &block, 1, 1'000'000'000), FOREBAY_OK);
  ASSERT_EQ(forebay_store_flush(store, 1'000'000'000), FOREBAY_OK);
  ASSERT_EQ(forebay_store_close(store), FOREBAY_OK);

  ASSERT_EQ(forebay_store_open(&options, &store), FOREBAY_OK);
  std::size_t present = 0;
  ASSERT_EQ(forebay_store_lookup(store, &block.id, 1, &present, nullptr), FOREBAY_OK);
  EXPECT_EQ(present, 1U);
  std::vector<std::uint8_t> back(bytes.size());
  block.data = back.data();
  EXPECT_EQ(forebay_store_get(store, &block, 1, 1'000'000'000), FOREBAY_OK);
  EXPECT_EQ(back, bytes);
  ASSERT_EQ(forebay_store_remove(store, &block.id, 1, 1'000'000'000), FOREBAY_OK);
  EXPECT_EQ(forebay_store_get(store, &block, 1, 1'000'000'000), FOREBAY_NOT_FOUND);
  EXPECT_EQ(forebay_store_close(store), FOREBAY_OK);
}

TEST(CAbi, RefusesBadArgumentsAndMissingStores) {
  forebay_store* store = nullptr;
  EXPECT_EQ(forebay_store_open(nullptr, &store), FOREBAY_INVALID);
  auto options = options_for("");
  options.struct_bytes = 4;
  EXPECT_EQ(forebay_store_open(&options, &store), FOREBAY_INVALID);
  const Folder folder;
  const std::string absent = folder.path + "/none/kv.store";
  options = options_for(absent);
  options.flash_bytes = 0;
  EXPECT_EQ(forebay_store_open(&options, &store), FOREBAY_NOT_FOUND);
  EXPECT_EQ(store, nullptr);
  EXPECT_EQ(forebay_store_lookup(nullptr, nullptr, 0, nullptr, nullptr), FOREBAY_INVALID);
  EXPECT_EQ(forebay_store_close(nullptr), FOREBAY_OK);
}

TEST(CAbi, NamesEveryStatus) {
  EXPECT_STREQ(forebay_status_text(FOREBAY_OK), "ok");
  EXPECT_STREQ(forebay_status_text(FOREBAY_NO_SPACE), "no_space");
  EXPECT_STREQ(forebay_status_text(-99), "unknown");
}

}  // namespace

#include "store/key.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <tuple>

namespace forebay::store {
namespace {

std::span<const std::byte> key_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Expected digests come from Python: hashlib.sha256 over struct.pack('<I', len(part)) + part.
TEST(Key, IdentityIsTheSha256OfLengthPrefixedParts) {
  const KeySpace space{"acme", "llama-3-8b/bf16/16"};
  EXPECT_EQ(to_hex(make_block_id(space, key_of("\x01\x02\x03")).digest),
            "08f8e69b2068f03a631ff5035df3e89621af17daf730d5ee56c2aca64d9af732");
  EXPECT_EQ(to_hex(make_block_id({}, {}).digest),
            "15ec7bf0b50732b49f8228e07d24365338f9e3ab994b00af08e5a3bffe55fd8b");
}

TEST(Key, BytesThatMoveBetweenPartsChangeTheIdentity) {
  EXPECT_TRUE(rc::check([](std::string tenant, std::string layout, std::string key, char moved) {
    const BlockId whole = make_block_id({tenant + moved, layout}, key_of(key));
    const BlockId shifted = make_block_id({tenant, moved + layout}, key_of(key));
    const BlockId into_key = make_block_id({tenant, layout}, key_of(moved + key));
    RC_ASSERT(whole != shifted);
    RC_ASSERT(whole != into_key);
    RC_ASSERT(shifted != into_key);
  }));
}

TEST(Key, SamePartsGiveTheSameIdentityAndNeverTheRootParent) {
  const auto same = [](const std::string& tenant, const std::string& layout,
                       const std::string& key) {
    const BlockId id = make_block_id({tenant, layout}, key_of(key));
    RC_ASSERT(id == make_block_id({tenant, layout}, key_of(key)));
    RC_ASSERT(id != kNoParent);
  };
  EXPECT_TRUE(rc::check(same));
}

TEST(Key, WordIsTheFirstEightBytes) {
  BlockId id;
  for (std::size_t i = 0; i < id.digest.size(); ++i) id.digest[i] = static_cast<std::byte>(i + 1);
  EXPECT_EQ(id.word(), 0x0807060504030201ULL);
  EXPECT_EQ(std::hash<BlockId>{}(id), id.word());
}

}  // namespace
}  // namespace forebay::store

#include "store/export_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/bytes.h"
#include "store/export_testing.h"

namespace forebay::store {
namespace {

// `tests/interop/store_export.py hex`: an encoder that shares no code with this one.
constexpr const char* kSample =
    "464542594145585001000000000000000000000000000000000000006b5fc6b458424c4b0700030005000000100000"
    "00"
    "1000000000000000d14f5c0cd622796d6a799edebf2a769a09c3d56760766ba67b757f7b4c919bbd0cfa7e929cf1b4"
    "ee"
    "000000000000000000000000000000000000000000000000000000000000000064656661756c747261776b65792d31"
    "54"
    "686520666972737420626c6f636b2e58424c4b07000300050000000d0000001000000001000000dc2d89fa53c73224"
    "65"
    "d9345d26715dec3e162486797e38f2e38e2c2591083f7b914d89245050033c6a799edebf2a769a09c3d56760766ba6"
    "7b"
    "757f7b4c919bbd0cfa7e929cf1b4ee64656661756c747261776b65792d32616e6420697473206368696c6458454e44"
    "00"
    "00000002000000000000001d000000000000007b11681ba551f8aa";

using Bytes = std::vector<std::byte>;

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    bytes.push_back(
        static_cast<std::byte>(std::stoi(std::string(text.substr(at, 2)), nullptr, 16)));
  }
  return bytes;
}

Bytes bytes_of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct ReadBack {
  Status status;
  std::uint64_t offset_bytes = 0;
  std::uint64_t skipped_blocks = 0;
  std::vector<ExportedBlock> blocks;
  std::vector<Bytes> data;
};

Status read_into(ExportReader& reader, ReadBack& back) {
  FOREBAY_TRY_STATUS(reader.begin());
  while (true) {
    FOREBAY_TRY(block, reader.next());
    if (!block) return {};
    Bytes data(block->record.data_bytes);
    FOREBAY_TRY_STATUS(reader.read_data(*block, data));
    back.blocks.push_back(std::move(*block));
    back.data.push_back(std::move(data));
  }
}

ReadBack read_all(const Bytes& file) {
  ExportReader reader(source_of(file));
  ReadBack back;
  back.status = read_into(reader, back);
  back.offset_bytes = reader.offset_bytes();
  back.skipped_blocks = reader.skipped_blocks();
  return back;
}

WalkedBlock block_of(const std::string& key, std::span<const std::byte> data) {
  WalkedBlock block;
  block.space = {"default", "raw"};
  block.engine_key = bytes_of_text(key);
  block.id = make_block_id(block.space, block.engine_key);
  block.token_count = 16;
  block.data = data;
  return block;
}

Bytes write_sample(std::uint64_t skipped = 0) {
  Bytes file;
  ExportWriter writer([&file](std::span<const std::byte> bytes) {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return Status{};
  });
  const Bytes first = bytes_of_text("The first block.");
  const Bytes second = bytes_of_text("and its child");
  EXPECT_TRUE(writer.begin());
  const WalkedBlock parent = block_of("key-1", first);
  EXPECT_TRUE(writer.add(parent));
  WalkedBlock child = block_of("key-2", second);
  child.parent = parent.id;
  child.chain_depth = 1;
  EXPECT_TRUE(writer.add(child));
  for (std::uint64_t i = 0; i < skipped; ++i) writer.skip();
  EXPECT_TRUE(writer.end());
  return file;
}

TEST(ExportStream, WritesTheBytesOfAnIndependentEncoder) {
  EXPECT_EQ(write_sample(), from_hex(kSample));
}

TEST(ExportStream, ReadsTheBytesOfAnIndependentEncoder) {
  const ReadBack back = read_all(from_hex(kSample));
  ASSERT_TRUE(back.status) << to_string(back.status.error());
  ASSERT_EQ(back.blocks.size(), 2U);
  EXPECT_EQ(back.data[1], bytes_of_text("and its child"));
  EXPECT_EQ(back.blocks[0].record.parent, kNoParent);
  EXPECT_EQ(back.blocks[1].record.parent, back.blocks[0].record.id);
  EXPECT_EQ(back.blocks[1].names.space.tenant, "default");
  EXPECT_EQ(back.blocks[1].record.chain_depth, 1U);
}

TEST(ExportStream, SaysHowManyBlocksWereDamagedAtExport) {
  EXPECT_EQ(read_all(write_sample(3)).skipped_blocks, 3U);
}

TEST(ExportStream, EveryTruncatedFileIsRefusedAtTheStructureThatIsTorn) {
  const Bytes whole = from_hex(kSample);
  const std::size_t second = 32 + 96 + 15 + 16;  // header, record, names, data
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ReadBack back =
        read_all({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    ASSERT_FALSE(back.status) << size;
    EXPECT_EQ(back.status.error().code, Errc::kCorrupt) << size;
    const std::size_t expected = size < 32                  ? 0
                                 : size < second            ? 32
                                 : size < whole.size() - 32 ? second
                                                            : whole.size() - 32;
    EXPECT_EQ(back.offset_bytes, expected) << size;
  }
}

TEST(ExportStream, EveryFlippedBitIsFound) {
  const Bytes whole = from_hex(kSample);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(read_all(flipped).status) << "byte " << bit / 8;
  }
}

TEST(ExportStream, ARecordThatIsMissingOrAddedIsFoundByTheTrailer) {
  const Bytes whole = from_hex(kSample);
  const auto record = whole.begin() + 32;
  const auto record_end = record + 96 + 15 + 16;
  Bytes missing(whole.begin(), record);
  missing.insert(missing.end(), record_end, whole.end());
  EXPECT_EQ(read_all(missing).status.error().code, Errc::kCorrupt);
  Bytes twice(whole.begin(), record_end);
  twice.insert(twice.end(), record, whole.end());
  EXPECT_EQ(read_all(twice).status.error().code, Errc::kCorrupt);
  Bytes beyond = whole;
  beyond.push_back(std::byte{0});
  EXPECT_EQ(read_all(beyond).offset_bytes, whole.size());
}

TEST(ExportStream, AnotherVersionIsNamedAsSuch) {
  Bytes file = from_hex(kSample);
  file[8] = std::byte{2};
  EXPECT_EQ(read_all(file).status.error().code, Errc::kVersion);
}

TEST(ExportStream, RefusesABlockWhoseIdIsNotThatOfItsNamesAndGoesOn) {
  Bytes file;
  ExportWriter writer([&file](std::span<const std::byte> bytes) {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return Status{};
  });
  const Bytes data = bytes_of_text("data");
  ASSERT_TRUE(writer.begin());
  WalkedBlock block = block_of("key", data);
  block.space.tenant = "mallory";
  EXPECT_EQ(writer.add(block).error().code, Errc::kInvalid);
  ASSERT_TRUE(writer.end());
  EXPECT_TRUE(read_all(file).status);
}

TEST(ExportStream, TheSinksAndTheSourcesErrorsComeThrough) {
  ExportWriter writer([](std::span<const std::byte>) { return fail(Errc::kNoSpace, "full"); });
  EXPECT_EQ(writer.begin().error().code, Errc::kNoSpace);
  ExportReader reader(
      [](std::span<std::byte>) -> Result<std::size_t> { return fail(Errc::kIo, "broken"); });
  EXPECT_EQ(reader.begin().error().code, Errc::kIo);
}

}  // namespace
}  // namespace forebay::store

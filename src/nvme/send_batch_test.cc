#include "nvme/send_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace forebay::nvme {
namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(std::span<const iovec> pieces) {
  std::string text;
  for (const iovec& piece : pieces) {
    text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  return text;
}

TEST(SendBatch, KeepsTheOrderAndJoinsStagedNeighbours) {
  SendBatch batch(16);
  std::string data = "data";
  batch.stage(bytes("he"));
  batch.stage(bytes("ad"));
  batch.append({data.data(), data.size()});
  batch.stage(bytes("crc"));
  EXPECT_EQ(batch.piece_count(), 3U);
  EXPECT_EQ(batch.staging_left(), 16U - 7);
  EXPECT_EQ(text_of(batch.rest()), "headdatacrc");
}

TEST(SendBatch, GoesOnWhereAShortSendEnded) {
  const std::string whole = "headdatacrc";
  for (std::size_t step = 1; step <= whole.size(); ++step) {
    SendBatch batch(16);
    std::string data = "data";
    batch.stage(bytes("head"));
    batch.append({data.data(), data.size()});
    batch.stage(bytes("crc"));
    std::string sent;
    bool over = false;
    while (!over) {
      const std::string rest = text_of(batch.rest());
      ASSERT_EQ(sent + rest, whole);
      const std::size_t size = std::min(step, rest.size());
      sent += rest.substr(0, size);
      over = batch.advance(size);
    }
    EXPECT_EQ(sent, whole);
    EXPECT_TRUE(batch.rest().empty());
    batch.clear();
    EXPECT_EQ(batch.staging_left(), 16U);
  }
}

}  // namespace
}  // namespace forebay::nvme

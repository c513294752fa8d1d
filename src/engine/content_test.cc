#include "engine/content.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace forebay::engine {
namespace {

using Bytes = std::vector<std::byte>;

Bytes content(std::size_t size, std::uint64_t name, std::uint64_t seed = 1,
              std::uint64_t layout = 2) {
  Bytes bytes(size);
  fill_content(bytes, content_key(seed, name, layout));
  return bytes;
}

std::size_t any_size() { return *rc::gen::inRange<std::size_t>(1, 3000); }

RC_GTEST_PROP(Content, WhatWasFilledChecks, (std::uint64_t name)) {
  RC_ASSERT(!check_content(content(any_size(), name), content_key(1, name, 2)));
}

// The checker's two paths (16-byte stores past the cache, plain ones) must agree on one function.
RC_GTEST_PROP(Content, DoesNotDependOnTheBuffersAlignment, (std::uint64_t name)) {
  const std::size_t size = any_size();
  const auto shift = *rc::gen::inRange<std::size_t>(0, 17);
  Bytes wide(size + shift);
  const auto view = std::span(wide).subspan(shift);
  fill_content(view, content_key(1, name, 2));
  RC_ASSERT(std::ranges::equal(view, content(size, name)));
  RC_ASSERT(!check_content(view, content_key(1, name, 2)));
}

RC_GTEST_PROP(Content, AnySingleFlippedBitIsFoundWhereItIs, (std::uint64_t name)) {
  Bytes bytes = content(any_size(), name);
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] ^= std::byte{1} << *rc::gen::inRange(0, 8);
  RC_ASSERT(check_content(bytes, content_key(1, name, 2)) == at);
}

RC_GTEST_PROP(Content, AnotherNameSeedOrLayoutIsFoundInTheFirstBytes,
              (std::uint64_t name, std::uint64_t other)) {
  RC_PRE(name != other);
  const Bytes bytes = content(256, name);
  const auto caught = [&](ContentKey key) {
    const auto at = check_content(bytes, key);
    return at && *at < 8;
  };
  RC_ASSERT(caught(content_key(1, other, 2)));
  RC_ASSERT(caught(content_key(other, name, 2)) || other == 1);
  RC_ASSERT(caught(content_key(1, name, other)) || other == 2);
}

RC_GTEST_PROP(Content, AnyShiftIsFound, (std::uint64_t name)) {
  const std::size_t size = *rc::gen::inRange<std::size_t>(256, 3000);
  const auto shift = *rc::gen::inRange<std::size_t>(1, size / 2);
  const Bytes longer = content(size + shift, name);
  RC_ASSERT(check_content(std::span(longer).subspan(shift), content_key(1, name, 2)));
}

// A shift within the block's own lines or pages: lines swapped, a page written to the wrong place.
RC_GTEST_PROP(Content, TwoSwappedPiecesAreFound, (std::uint64_t name)) {
  const auto piece = *rc::gen::element<std::size_t>(8, 64, 512, 4096);
  const auto count = *rc::gen::inRange<std::size_t>(2, 6);
  const auto first = *rc::gen::inRange<std::size_t>(0, count - 1);
  const auto second = *rc::gen::inRange<std::size_t>(first + 1, count);
  Bytes bytes = content(piece * count, name);
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(first * piece),
                   bytes.begin() + static_cast<std::ptrdiff_t>((first + 1) * piece),
                   bytes.begin() + static_cast<std::ptrdiff_t>(second * piece));
  const auto at = check_content(bytes, content_key(1, name, 2));
  RC_ASSERT(at);
  RC_ASSERT(*at >= first * piece && *at < (first + 1) * piece);
}

RC_GTEST_PROP(Content, ATornHalfOfAnotherBlockIsFoundAtTheSeam,
              (std::uint64_t name, std::uint64_t other)) {
  RC_PRE(name != other);
  const std::size_t size = *rc::gen::inRange<std::size_t>(64, 3000);
  const auto seam = *rc::gen::inRange<std::size_t>(0, size - 16);
  Bytes bytes = content(size, name);
  const Bytes foreign = content(size, other);
  std::copy(foreign.begin() + static_cast<std::ptrdiff_t>(seam), foreign.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(seam));
  const auto at = check_content(bytes, content_key(1, name, 2));
  RC_ASSERT(at);
  // Single bytes of two random streams may agree; sixteen in a row do not.
  RC_ASSERT(*at >= seam && *at < seam + 16);
}

TEST(Content, ZeroedMemoryAndOnesAreFound) {
  for (const auto value : {std::byte{0}, std::byte{0xff}}) {
    const Bytes bytes(4096, value);
    EXPECT_TRUE(check_content(bytes, content_key(1, 7, 2)));
  }
}

TEST(Content, AnEmptyBlockIsRight) { EXPECT_FALSE(check_content({}, content_key(1, 7, 2))); }

TEST(Content, LayoutsAndTenantsDiffer) {
  EXPECT_NE(layout_word("a", "fp16"), layout_word("a", "fp8"));
  EXPECT_NE(layout_word("a", "fp16"), layout_word("b", "fp16"));
  EXPECT_NE(layout_word("ab", "c"), layout_word("a", "bc"));
}

}  // namespace
}  // namespace forebay::engine

#include "store/spaces.h"

#include <gtest/gtest.h>

namespace forebay::store {
namespace {

TEST(Spaces, TheSamePairOfNamesIsTheSameSpace) {
  Spaces spaces({});
  const SpaceId first = spaces.register_space("a", "x").value();
  const SpaceId second = spaces.register_space("a", "y").value();
  EXPECT_NE(first.value, second.value);
  EXPECT_EQ(spaces.register_space("a", "x").value().value, first.value);
  EXPECT_EQ(spaces.tenant_of(first), spaces.tenant_of(second));
  EXPECT_EQ(spaces.space(second).layout_fingerprint, "y");
}

TEST(Spaces, NamesThatRunTogetherStayApart) {
  Spaces spaces({});
  EXPECT_NE(spaces.register_space("ab", "c").value().value,
            spaces.register_space("a", "bc").value().value);
}

TEST(Spaces, RefusesNamesThatAreTooLong) {
  Spaces spaces({});
  const std::string tenant(kTenantBytesMax + 1, 't');
  const std::string layout(kLayoutBytesMax + 1, 'l');
  EXPECT_EQ(spaces.register_space(tenant, "x").error().code, Errc::kInvalid);
  EXPECT_EQ(spaces.register_space("a", layout).error().code, Errc::kInvalid);
}

TEST(Spaces, RefusesOneSpaceTooMany) {
  Spaces spaces({});
  for (std::size_t i = 0; i < Spaces::kSpacesMax; ++i) {
    ASSERT_TRUE(spaces.register_space("a", std::to_string(i)).has_value());
  }
  EXPECT_EQ(spaces.register_space("a", "more").error().code, Errc::kBusy);
}

TEST(Spaces, AQuotaBoundsItsTenantOverAllSpaces) {
  Spaces spaces({{.tenant = "a", .dram_bytes_max = 100}});
  const TenantId tenant = spaces.tenant_of(spaces.register_space("a", "x").value());
  EXPECT_TRUE(spaces.fits(tenant, Tier::kDram, 100));
  spaces.add(tenant, Tier::kDram, 60);
  EXPECT_FALSE(spaces.fits(tenant, Tier::kDram, 41));
  EXPECT_TRUE(spaces.fits(tenant, Tier::kFlash, 1 << 30));
  spaces.subtract(tenant, Tier::kDram, 60);
  EXPECT_TRUE(spaces.fits(tenant, Tier::kDram, 100));
}

TEST(Spaces, KindsKeepTokenCountsWithinOnePercent) {
  Spaces spaces({});
  const SpaceId space = spaces.register_space("a", "x").value();
  for (const std::uint32_t tokens : {0U, 1U, 16U, 255U, 256U, 1000U, 65'537U, 0xffffffffU}) {
    const std::uint32_t kept = spaces.token_count(spaces.kind_of(space, tokens));
    EXPECT_LE(kept, tokens);
    EXPECT_GE(kept, tokens - tokens / 128) << tokens;
    if (tokens < 256) EXPECT_EQ(kept, tokens);
  }
  EXPECT_EQ(spaces.space_of(spaces.kind_of(space, 16)).value, space.value);
}

}  // namespace
}  // namespace forebay::store

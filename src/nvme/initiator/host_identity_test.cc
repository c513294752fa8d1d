// A machine has one name, and every device that is opened an identifier of its own.
#include "nvme/initiator/host_identity.h"

#include <gtest/gtest.h>

namespace forebay::nvme::initiator {
namespace {

TEST(HostIdentity, FollowsFromTheMachineOrFromTheNameGiven) {
  const HostIdentity machine = host_identity("");
  EXPECT_TRUE(machine.nqn.starts_with("nqn.2014-08.org.nvmexpress:uuid:"));
  EXPECT_EQ(machine.nqn.size(), 68U);  // 32 and the 36 letters of a UUID
  EXPECT_EQ(machine.nqn, host_identity("").nqn);
  EXPECT_NE(machine.id, host_identity("").id);
  const HostIdentity named = host_identity("nqn.2026-12.org.forebay:me");
  EXPECT_EQ(named.nqn, "nqn.2026-12.org.forebay:me");
  EXPECT_NE(named.id, machine.id);
  // RFC 9562: version 8, variant 10b.
  EXPECT_EQ(static_cast<unsigned>(named.id[6]) >> 4, 8U);
  EXPECT_EQ(static_cast<unsigned>(named.id[8]) >> 6, 2U);
}

}  // namespace
}  // namespace forebay::nvme::initiator

// Every part of a URL is read, and what is wrong is named.
#include "nvme/initiator/fabric_url.h"

#include <gtest/gtest.h>

namespace forebay::nvme::initiator {
namespace {

TEST(FabricUrl, ReadsEveryPart) {
  const auto url = parse_fabric_url(
      "nvme+tcp://storage-7.example:4421/nqn.2026-12.org.forebay:disk?nsid=3&queues=4&depth=32"
      "&header_digest=on&data_digest=on&keep_alive_s=0&timeout_s=9&takeover=on"
      "&host_nqn=nqn.2026-12.org.forebay:me&dhchap_key_file=/keys/a=b.key"
      "&dhchap_ctrl_key_file=c.key&reauth_s=3600&tls_psk_file=t.key&tls_identity=0&tls_compat=on");
  ASSERT_TRUE(url) << to_string(url.error());
  EXPECT_EQ(url->host, "storage-7.example");
  EXPECT_EQ(url->port, 4421);
  EXPECT_EQ(url->nqn, "nqn.2026-12.org.forebay:disk");
  EXPECT_EQ(url->nsid, 3U);
  EXPECT_EQ(url->queues, 4U);
  EXPECT_EQ(url->depth, 32U);
  EXPECT_EQ(url->digests, (Digests{.header = true, .data = true}));
  EXPECT_EQ(url->keep_alive_s, 0U);
  EXPECT_EQ(url->timeout_s, 9U);
  EXPECT_TRUE(url->takeover);
  EXPECT_EQ(url->host_nqn, "nqn.2026-12.org.forebay:me");
  EXPECT_EQ(url->key_file, "/keys/a=b.key");
  EXPECT_EQ(url->controller_key_file, "c.key");
  EXPECT_EQ(url->reauth_s, 3600U);
  EXPECT_EQ(url->tls_key_file, "t.key");
  EXPECT_EQ(url->tls_identity, 0U);
  EXPECT_TRUE(url->tls_compat);
}

TEST(FabricUrl, LeavesTheRestAtItsDefault) {
  const auto url = parse_fabric_url("nvme+tcp://[fe80::1%eth0]/nqn.2026-12.org.forebay:disk");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "fe80::1%eth0");
  EXPECT_EQ(url->port, 4420);
  EXPECT_EQ(url->nsid, 1U);
  EXPECT_FALSE(url->digests.header || url->digests.data || url->takeover || url->tls_compat);
  EXPECT_EQ(url->tls_identity, 1U);
}

struct Wrong {
  const char* text;
  const char* names;
};
class FabricUrlWrong : public testing::TestWithParam<Wrong> {};

TEST_P(FabricUrlWrong, TheErrorNamesThePart) {
  const auto url = parse_fabric_url(std::string("nvme+tcp://") + GetParam().text);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().code, Errc::kInvalid);
  EXPECT_NE(std::string_view(url.error().what).find(GetParam().names), std::string_view::npos)
      << url.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    All, FabricUrlWrong,
    testing::Values(
        Wrong{"", "host"}, Wrong{":4420/nqn.a:b", "host"}, Wrong{"a b/nqn.a:b", "host"},
        Wrong{"[::1/nqn.a:b", "`[`"}, Wrong{"h:0/nqn.a:b", "port"},
        Wrong{"h:65536/nqn.a:b", "port"}, Wrong{"h:/nqn.a:b", "port"},
        Wrong{"[::1]x/nqn.a:b", "port"}, Wrong{"h", "NQN"}, Wrong{"h/", "NQN"},
        Wrong{"h/disk", "NQN"}, Wrong{"h/nqn.a b", "NQN"}, Wrong{"h/nqn.a:b?nsid=0", "nsid"},
        Wrong{"h/nqn.a:b?nsid=4294967295", "nsid"}, Wrong{"h/nqn.a:b?queues=17", "queues"},
        Wrong{"h/nqn.a:b?depth=-1", "depth"}, Wrong{"h/nqn.a:b?data_digest=yes", "data_digest"},
        Wrong{"h/nqn.a:b?takeover=1", "takeover"},
        Wrong{"h/nqn.a:b?header_digest=", "header_digest"},
        Wrong{"h/nqn.a:b?keep_alive_s=x", "keep_alive_s"},
        Wrong{"h/nqn.a:b?timeout_s=0", "timeout_s"}, Wrong{"h/nqn.a:b?host_nqn=me", "host_nqn"},
        Wrong{"h/nqn.a:b?dhchap_key_file=", "dhchap_key_file"},
        Wrong{"h/nqn.a:b?dhchap_ctrl_key_file=x", "needs dhchap_key_file="},
        Wrong{"h/nqn.a:b?tls_psk_file=", "tls_psk_file"},
        Wrong{"h/nqn.a:b?tls_psk_file=k&tls_identity=2", "tls_identity"},
        Wrong{"h/nqn.a:b?tls_psk_file=k&tls_compat=1", "tls_compat"},
        Wrong{"h/nqn.a:b?tls_compat=on", "need tls_psk_file="},
        Wrong{"h/nqn.a:b?tls_identity=0", "need tls_psk_file="},
        Wrong{"h/nqn.a:b?reauth_s=-1", "reauth_s"}, Wrong{"h/nqn.a:b?nsid", "NAME=VALUE"},
        Wrong{"h/nqn.a:b?size=1", "none of"}, Wrong{"h/nqn.a:b?nsid=1&nsid=2", "twice"}));

}  // namespace
}  // namespace forebay::nvme::initiator

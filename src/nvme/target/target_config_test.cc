#include "nvme/target/target_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes.h"

namespace forebay::nvme::target {
namespace {

constexpr const char* kFull = R"([target]
listen = ["0.0.0.0:4420", "[::1]:4421"]
connections_max = 10
transfer_memory_bytes = "8MiB"

[[subsystem]]
nqn = "nqn.2026-12.org.example:kv"
hosts = ["nqn.2014-08.org.nvmexpress:uuid:a", "nqn.2014-08.org.nvmexpress:uuid:b"]

[[subsystem.namespace]]
id = 1
device = "kv.img"
size = "1GiB"

[[subsystem.namespace]]
id = 7
device = "/dev/nvme9n1"
read_only = true
hosts = ["nqn.2014-08.org.nvmexpress:uuid:b"]

[[subsystem]]
nqn = "nqn.2026-12.org.example:scratch"
hosts = ["*"]

[[subsystem.namespace]]
id = 1
device = "stripe:/a,/b"
)";

TEST(TargetConfig, ReadsWhatIsWritten) {
  Diagnostics mistakes;
  const auto target = read_target_config("/etc/forebay/target.toml", kFull, mistakes);
  ASSERT_TRUE(target) << mistakes.text();
  ASSERT_EQ(target->addresses.size(), 2U);
  EXPECT_EQ(target->addresses[1].host, "::1");
  EXPECT_EQ(target->addresses[1].port, 4421);
  EXPECT_EQ(target->connections_max, 10U);
  EXPECT_EQ(target->transfer_memory_bytes, 8 * kMiB);
  EXPECT_EQ(target->stall_s, 10U);
  ASSERT_EQ(target->subsystems.size(), 2U);
  const SubsystemConfig& kv = target->subsystems[0];
  ASSERT_EQ(kv.namespaces.size(), 2U);
  EXPECT_EQ(kv.namespaces[0].device, "/etc/forebay/kv.img");
  EXPECT_EQ(kv.namespaces[0].size_bytes, kGiB);
  EXPECT_EQ(kv.namespaces[1].id, 7U);
  EXPECT_EQ(kv.namespaces[1].device, "/dev/nvme9n1");
  EXPECT_TRUE(kv.namespaces[1].read_only);
  EXPECT_EQ(kv.namespaces[1].place, "/etc/forebay/target.toml:15");
  EXPECT_EQ(target->subsystems[1].namespaces[0].device, "stripe:/a,/b");
}

TEST(TargetConfig, ReadsHowLongAHostMayStand) {
  std::string text = kFull;
  text.replace(text.find("connections_max = 10"), 20, "stall_s = 30");
  Diagnostics mistakes;
  const auto target = read_target_config("t.toml", text, mistakes);
  ASSERT_TRUE(target) << mistakes.text();
  EXPECT_EQ(target->stall_s, 30U);
}

TEST(TargetConfig, HostsAreThoseOfTheListOrAll) {
  Diagnostics mistakes;
  const auto target = read_target_config("t.toml", kFull, mistakes);
  ASSERT_TRUE(target);
  const HostList listed = host_list(target->subsystems[0].hosts);
  EXPECT_TRUE(listed.admits("nqn.2014-08.org.nvmexpress:uuid:a"));
  EXPECT_FALSE(listed.admits("nqn.2014-08.org.nvmexpress:uuid:c"));
  EXPECT_TRUE(host_list(target->subsystems[1].hosts).admits("nqn.2014-08.org.nvmexpress:uuid:c"));
}

// What one more line, or one line instead of another, is told.
struct Mistake {
  std::string from;  // of kFull; "" appends
  std::string to;
  std::string place;
  std::string message;
};

class TargetMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(TargetMistakes, AreToldAtTheirLine) {
  const Mistake& param = GetParam();
  std::string text = kFull;
  if (param.from.empty()) {
    text += param.to;
  } else {
    const std::size_t at = text.find(param.from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, param.from.size(), param.to);
  }
  Diagnostics mistakes;
  EXPECT_FALSE(read_target_config("t.toml", text, mistakes));
  ASSERT_EQ(mistakes.count(), 1U) << mistakes.text();
  EXPECT_EQ(mistakes.kept()[0].place, param.place);
  EXPECT_NE(mistakes.kept()[0].message.find(param.message), std::string::npos)
      << mistakes.kept()[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    All, TargetMistakes,
    testing::Values(
        Mistake{"0.0.0.0:4420", "everywhere:4420", "t.toml:2", "`everywhere:4420` is no address"},
        Mistake{"[::1]:4421", "::1:4421", "t.toml:2", "is no address and port"},
        Mistake{"connections_max = 10", "conections_max = 10", "t.toml:3",
                "unknown key `conections_max` in [target]"},
        Mistake{"nqn.2026-12.org.example:kv", "kv", "t.toml:7", "`kv` is no NVMe qualified name"},
        Mistake{"nqn.2026-12.org.example:scratch", "nqn.2026-12.org.example:kv", "t.toml:22",
                "two subsystems are named"},
        Mistake{"nqn.2026-12.org.example:scratch", "nqn.2014-08.org.nvmexpress.discovery",
                "t.toml:22", "the name of discovery"},
        Mistake{"hosts = [\"*\"]", "", "t.toml:21", "whom this subsystem admits is not said"},
        Mistake{"hosts = [\"*\"]", "hosts = [\"*\", \"nqn.a\"]", "t.toml:23", "`*` is no host's"},
        Mistake{"hosts = [\"*\"]", "hosts = [\"me\"]", "t.toml:23", "`me` is no host's"},
        Mistake{"id = 7", "id = 1", "t.toml:16", "two namespaces have the id 1"},
        Mistake{"id = 7", "", "t.toml:15", "a namespace has no `id`"},
        Mistake{"id = 7", "id = 1025", "t.toml:16", "it must be 1 to 1024"},
        Mistake{"device = \"/dev/nvme9n1\"", "", "t.toml:15", "a namespace has no `device`"},
        Mistake{"stripe:/a,/b", "/dev/nvme9n1", "t.toml:27", "is exported at t.toml:15 already"},
        Mistake{"read_only = true", "read_only = true\nsize = 1", "t.toml:19",
                "a file to be made cannot be read_only"},
        Mistake{"", "[[subsystem]]\nnqn = \"nqn.x\"\nhosts = [\"*\"]\n", "t.toml:28",
                "a subsystem has no namespace"},
        Mistake{"", "[[hosts]]\n", "t.toml:28", "unknown section `hosts`"},
        Mistake{"", "[[host]]\nnqn = \"nqn.x\"\n", "t.toml:28",
                "neither `dhchap_key_file` nor `tls_psk_file`"},
        Mistake{"", "[[host]]\ndhchap_key_file = \"k\"\n", "t.toml:28", "a host has no `nqn`"},
        Mistake{"", "[[host]]\nnqn = \"me\"\ndhchap_key_file = \"k\"\n", "t.toml:29",
                "`me` is no host's"},
        Mistake{"",
                "[[host]]\nnqn = \"nqn.x\"\ndhchap_key_file = \"k\"\n"
                "[[host]]\nnqn = \"nqn.x\"\ndhchap_key_file = \"k\"\n",
                "t.toml:32", "two hosts are named `nqn.x`"},
        Mistake{"",
                "[[host]]\nnqn = \"nqn.x\"\ndhchap_key_file = \"k\"\n"
                "dhchap_hashes = [\"sha256\", \"sha1\"]\n",
                "t.toml:31", "`sha1` is no hash"},
        Mistake{"",
                "[[host]]\nnqn = \"nqn.x\"\ndhchap_key_file = \"k\"\n"
                "dhchap_groups = [\"ffdhe1024\"]\n",
                "t.toml:31", "`ffdhe1024` is no DH group"},
        Mistake{"", "[[host]]\nnqn = \"nqn.x\"\nkey = \"k\"\n", "t.toml:30", "unknown key `key`"},
        Mistake{"", "[[listen]]\naddress = \"127.0.0.1:1\"\n", "t.toml:28",
                "does not say whether it speaks TLS"},
        Mistake{"", "[[listen]]\naddress = \"127.0.0.1:1\"\ntls = \"on\"\n", "t.toml:30", "`on`"},
        Mistake{"", "[[listen]]\ntls = \"off\"\n", "t.toml:28", "is no address and port"},
        Mistake{"", "[[listen]]\naddress = \"127.0.0.1:1\"\ntls = \"required\"\n", "t.toml:30",
                "no host has a key for it"},
        Mistake{"", "[[host]]\nnqn = \"nqn.x\"\ntls_psk_file = \"k\"\n", "t.toml:30",
                "no address speaks TLS"},
        Mistake{"",
                "[[listen]]\naddress = \"127.0.0.1:1\"\ntls = \"optional\"\n"
                "[[host]]\nnqn = \"nqn.x\"\ntls_psk_file = \"k\"\ndhchap_ctrl_key_file = \"c\"\n",
                "t.toml:34", "has no `dhchap_key_file`"}));

constexpr const char* kHostSection = R"([[host]]
nqn = "nqn.2014-08.org.nvmexpress:uuid:a"
dhchap_key_file = "a.key"
dhchap_ctrl_key_file = "/keys/ctrl.key"
dhchap_hashes = ["sha512", "sha256"]
dhchap_groups = ["null", "null"]
)";

TEST(TargetConfig, ReadsHowAHostProvesItself) {
  Diagnostics mistakes;
  const auto target =
      read_target_config("/etc/forebay/target.toml", std::string(kFull) + kHostSection, mistakes);
  ASSERT_TRUE(target) << mistakes.text();
  ASSERT_EQ(target->hosts.size(), 1U);
  const HostConfig& host = target->hosts[0];
  EXPECT_EQ(host.nqn, "nqn.2014-08.org.nvmexpress:uuid:a");
  EXPECT_EQ(host.dhchap_key_file, "/etc/forebay/a.key");
  EXPECT_EQ(host.dhchap_ctrl_key_file, "/keys/ctrl.key");
  EXPECT_EQ(host.key_place, "/etc/forebay/target.toml:30");
  EXPECT_EQ(host.methods.hashes, (std::vector{auth::HashId::kSha512, auth::HashId::kSha256}));
  EXPECT_EQ(host.methods.groups, std::vector{auth::GroupId::kNull});
  EXPECT_EQ(HostConfig{}.methods.groups.front(), auth::GroupId::kFfdhe2048);
}

TEST(TargetConfig, ReadsWhereAndWithWhichKeyTlsIsSpoken) {
  std::string text = std::string(kFull) + R"([[listen]]
address = "[::1]:4422"
tls = "required"

[[listen]]
address = "127.0.0.1:4423"
tls = "optional"

[[host]]
nqn = "nqn.2014-08.org.nvmexpress:uuid:a"
tls_psk_file = "a.psk"
)";
  Diagnostics mistakes;
  const auto target = read_target_config("/etc/forebay/target.toml", text, mistakes);
  ASSERT_TRUE(target) << mistakes.text();
  ASSERT_EQ(target->addresses.size(), 4U);
  EXPECT_EQ(target->addresses[0].mode, tls::TlsMode::kOff);
  EXPECT_EQ(target->addresses[2].host, "::1");
  EXPECT_EQ(target->addresses[2].text, "[::1]:4422");
  EXPECT_EQ(target->addresses[2].mode, tls::TlsMode::kRequired);
  EXPECT_EQ(target->addresses[3].mode, tls::TlsMode::kOptional);
  EXPECT_EQ(target->hosts[0].tls_psk_file, "/etc/forebay/a.psk");
  EXPECT_EQ(target->hosts[0].tls_place, "/etc/forebay/target.toml:38");

  // The default address is not added to those of sections.
  text.erase(text.find("listen = "), text.find("connections_max") - text.find("listen = "));
  const auto sections = read_target_config("t.toml", text, mistakes);
  ASSERT_TRUE(sections) << mistakes.text();
  EXPECT_EQ(sections->addresses.size(), 2U);
}

// The host that is meant would need no key.
TEST(TargetConfig, AHostThatNoSubsystemAdmitsIsASlip) {
  std::string text = std::string(kFull) + kHostSection;
  text.replace(text.find("hosts = [\"*\"]"), 13, "hosts = [\"nqn.b\"]");
  text.replace(text.rfind("uuid:a"), 6, "uuid:A");
  Diagnostics mistakes;
  EXPECT_FALSE(read_target_config("t.toml", text, mistakes));
  ASSERT_EQ(mistakes.count(), 1U) << mistakes.text();
  EXPECT_EQ(mistakes.kept()[0].message, "no subsystem admits `nqn.2014-08.org.nvmexpress:uuid:A`");
}

TEST(TargetConfig, AnEmptyOneExportsNothing) {
  Diagnostics mistakes;
  EXPECT_FALSE(read_target_config("t.toml", "", mistakes));
  ASSERT_EQ(mistakes.count(), 1U);
  EXPECT_EQ(mistakes.kept()[0].message, "exports nothing");
}

// Of every key, what its row in the page ends with.
class Keys final : public config::FieldVisitor {
 public:
  std::vector<std::pair<std::string, std::string>> rows;  // name, meaning
  void text(const config::Key& key, std::string&) override { add(key); }
  void word(const config::Key& key, std::string&, std::span<const std::string_view>) override {
    add(key);
  }
  void count(const config::Key& key, std::uint64_t&, config::CountRange) override { add(key); }
  void bytes(const config::Key& key, std::uint64_t&, config::CountRange) override { add(key); }
  void rate(const config::Key& key, double&, config::NumberRange) override { add(key); }
  void number(const config::Key& key, double&, config::NumberRange) override { add(key); }
  void toggle(const config::Key& key, bool&) override { add(key); }
  void texts(const config::Key& key, std::vector<std::string>&) override { add(key); }
  void maybe(const config::Key& key, std::optional<double>&) override { add(key); }

 private:
  void add(const config::Key& key) { rows.emplace_back(key.name, key.help); }
};

TEST(TargetConfig, ThePageHasEveryKeyAndItsMeaning) {
  std::ifstream file(FOREBAY_SOURCE_DIR "/docs/formats/target-config.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  Keys keys;
  TargetConfig target;
  SubsystemConfig subsystem;
  NamespaceConfig item;
  visit(keys, target);
  visit(keys, subsystem);
  HostConfig host;
  visit(keys, item);
  visit(keys, host);
  ListenConfig listener;
  visit(keys, listener);
  ASSERT_EQ(keys.rows.size(), 19U);
  for (const auto& [name, meaning] : keys.rows) {
    const std::string row = "| `" + name + "` |";
    bool found = false;
    for (std::size_t at = page.find(row); at != std::string::npos; at = page.find(row, at + 1)) {
      const std::string line = page.substr(at, page.find('\n', at) - at);
      found = found || line.ends_with("| " + meaning + " |");
    }
    EXPECT_TRUE(found) << name << ": " << meaning;
  }
}

// The example of the page is one.
TEST(TargetConfig, ThePagesExampleIsRead) {
  std::ifstream file(FOREBAY_SOURCE_DIR "/docs/formats/target-config.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find("```toml\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  Diagnostics mistakes;
  const auto target = read_target_config("target.toml", example, mistakes);
  ASSERT_TRUE(target) << mistakes.text();
  EXPECT_EQ(target->subsystems[0].namespaces.size(), 2U);
}

}  // namespace
}  // namespace forebay::nvme::target

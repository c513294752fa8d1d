// What two parties agree on before they prove who they are: a hash and a Diffie-Hellman group, by
// their numbers in DH-HMAC-CHAP (Base Specification 2.1, 8.3.5.5.2). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::nvme::auth {

enum class HashId : std::uint8_t { kSha256 = 1, kSha384 = 2, kSha512 = 3 };
enum class GroupId : std::uint8_t {
  kNull = 0,  // no Diffie-Hellman: a listener may try keys at home
  kFfdhe2048 = 1,
  kFfdhe3072 = 2,
  kFfdhe4096 = 3,
  kFfdhe6144 = 4,
  kFfdhe8192 = 5,
};

inline constexpr std::array kHashes{HashId::kSha256, HashId::kSha384, HashId::kSha512};
inline constexpr std::array kGroups{GroupId::kNull,      GroupId::kFfdhe2048, GroupId::kFfdhe3072,
                                    GroupId::kFfdhe4096, GroupId::kFfdhe6144, GroupId::kFfdhe8192};
inline constexpr std::size_t kHashBytesMax = 64;
inline constexpr std::size_t kGroupBytesMax = 1024;

// "sha256", "ffdhe2048", "null": as configurations write them.
[[nodiscard]] std::string_view to_string(HashId hash);
[[nodiscard]] std::string_view to_string(GroupId group);
[[nodiscard]] std::optional<HashId> parse_hash(std::string_view name);
[[nodiscard]] std::optional<GroupId> parse_group(std::string_view name);
// Of a number that came over the wire; null: there is no such one.
[[nodiscard]] std::optional<HashId> hash_of(std::uint8_t number);
[[nodiscard]] std::optional<GroupId> group_of(std::uint8_t number);
[[nodiscard]] std::size_t hash_bytes(HashId hash);
[[nodiscard]] std::size_t group_bytes(GroupId group);  // 0 of kNull

// What a party is ready to use, the first the dearest. The controller chooses.
struct Methods {
  std::vector<HashId> hashes{kHashes.begin(), kHashes.end()};
  // With a group first: what was recorded is of no use to who guesses at keys.
  std::vector<GroupId> groups{GroupId::kFfdhe2048, GroupId::kFfdhe3072, GroupId::kFfdhe4096,
                              GroupId::kFfdhe6144, GroupId::kFfdhe8192, GroupId::kNull};
};

// A target's where nothing is said: strangers may make it work, and its loop has others to serve.
// No step takes 2 ms; one of the largest group takes 8.
[[nodiscard]] Methods quick_methods();

}  // namespace forebay::nvme::auth

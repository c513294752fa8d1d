#include "nvme/auth/method.h"

#include <algorithm>

namespace forebay::nvme::auth {
namespace {

struct HashRow {
  HashId id;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kHashRows{HashRow{HashId::kSha256, "sha256", 32},
                               HashRow{HashId::kSha384, "sha384", 48},
                               HashRow{HashId::kSha512, "sha512", 64}};

struct GroupRow {
  GroupId id;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kGroupRows{GroupRow{GroupId::kNull, "null", 0},
                                GroupRow{GroupId::kFfdhe2048, "ffdhe2048", 256},
                                GroupRow{GroupId::kFfdhe3072, "ffdhe3072", 384},
                                GroupRow{GroupId::kFfdhe4096, "ffdhe4096", 512},
                                GroupRow{GroupId::kFfdhe6144, "ffdhe6144", 768},
                                GroupRow{GroupId::kFfdhe8192, "ffdhe8192", 1024}};

}  // namespace

std::string_view to_string(HashId hash) {
  return kHashRows[static_cast<std::size_t>(hash) - 1].name;
}
std::string_view to_string(GroupId group) {
  return kGroupRows[static_cast<std::size_t>(group)].name;
}

std::optional<HashId> parse_hash(std::string_view name) {
  const auto found = std::ranges::find(kHashRows, name, &HashRow::name);
  return found == kHashRows.end() ? std::nullopt : std::optional(found->id);
}
std::optional<GroupId> parse_group(std::string_view name) {
  const auto found = std::ranges::find(kGroupRows, name, &GroupRow::name);
  return found == kGroupRows.end() ? std::nullopt : std::optional(found->id);
}

std::optional<HashId> hash_of(std::uint8_t number) {
  const auto id = static_cast<HashId>(number);
  return std::ranges::find(kHashes, id) == kHashes.end() ? std::nullopt : std::optional(id);
}
std::optional<GroupId> group_of(std::uint8_t number) {
  const auto id = static_cast<GroupId>(number);
  return std::ranges::find(kGroups, id) == kGroups.end() ? std::nullopt : std::optional(id);
}

std::size_t hash_bytes(HashId hash) { return kHashRows[static_cast<std::size_t>(hash) - 1].bytes; }
std::size_t group_bytes(GroupId group) { return kGroupRows[static_cast<std::size_t>(group)].bytes; }

Methods quick_methods() {
  return {
      .groups = {GroupId::kFfdhe2048, GroupId::kFfdhe3072, GroupId::kFfdhe4096, GroupId::kNull}};
}

}  // namespace forebay::nvme::auth

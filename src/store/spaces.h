// Key spaces and tenants by number, and what each tenant holds of each tier against its quota.
//
// Units: bytes. Threads: one core. Errors: register_space() kInvalid (a name is empty or too
// long), kBusy (more than kSpacesMax). kind_of(): kNoKind.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "store/index.h"
#include "store/store.h"

namespace forebay::store {

using TenantId = std::uint32_t;

class Spaces {
 public:
  static constexpr std::size_t kSpacesMax = 0xfffe;

  explicit Spaces(const std::vector<TenantQuota>& quotas);

  [[nodiscard]] Result<SpaceId> register_space(std::string_view tenant,
                                               std::string_view layout_fingerprint);
  [[nodiscard]] bool known(SpaceId id) const { return id.value < spaces_.size(); }
  [[nodiscard]] const KeySpace& space(SpaceId id) const { return spaces_[id.value]; }
  [[nodiscard]] TenantId tenant_of(SpaceId id) const { return tenant_of_space_[id.value]; }
  [[nodiscard]] const TenantQuota& quota(TenantId tenant) const { return tenants_[tenant].quota; }
  [[nodiscard]] std::size_t tenant_count() const { return tenants_.size(); }

  // The number of a pair of space and token count, for the index; kNoKind when all are in use.
  // Counts above 128 keep 7 bits: within 0.8 %, enough for estimates, and few kinds.
  [[nodiscard]] Kind kind_of(SpaceId space, std::uint32_t token_count);
  [[nodiscard]] SpaceId space_of(Kind kind) const { return kinds_[kind].space; }
  [[nodiscard]] std::uint32_t token_count(Kind kind) const { return kinds_[kind].token_count; }
  [[nodiscard]] TenantId tenant_of(Kind kind) const { return kinds_[kind].tenant; }

  [[nodiscard]] std::uint64_t used_bytes(TenantId tenant, Tier tier) const {
    return tenants_[tenant].used_bytes[static_cast<std::size_t>(tier)];
  }
  // 0: none.
  [[nodiscard]] std::uint64_t quota_bytes(TenantId tenant, Tier tier) const {
    const TenantQuota& quota = tenants_[tenant].quota;
    return tier == Tier::kDram ? quota.dram_bytes_max : quota.flash_bytes_max;
  }
  [[nodiscard]] bool fits(TenantId tenant, Tier tier, std::uint64_t bytes) const {
    const std::uint64_t most = quota_bytes(tenant, tier);
    return most == 0 || used_bytes(tenant, tier) + bytes <= most;
  }
  void add(TenantId tenant, Tier tier, std::uint64_t bytes);
  void subtract(TenantId tenant, Tier tier, std::uint64_t bytes);

 private:
  struct Tenant {
    TenantQuota quota;
    std::array<std::uint64_t, kTierCount> used_bytes{};
  };
  TenantId tenant_named(std::string_view name);

  std::deque<KeySpace> spaces_;  // references stay valid as it grows
  std::vector<TenantId> tenant_of_space_;
  std::vector<Tenant> tenants_;
  std::unordered_map<std::string, std::uint16_t> by_name_;  // length of tenant, tenant, layout
  std::unordered_map<std::string, TenantId> tenant_by_name_;
  struct BlockKind {
    SpaceId space;
    std::uint32_t token_count = 0;
    TenantId tenant = 0;
  };
  std::vector<BlockKind> kinds_{BlockKind{}};  // the first is that of ghosts
  std::unordered_map<std::uint64_t, Kind> kind_by_pair_;
  Kind last_kind_ = 0;
  std::uint16_t last_ = 0;  // the space asked for last: recovery asks for the same again and again
};

}  // namespace forebay::store

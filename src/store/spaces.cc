#include "store/spaces.h"

#include <bit>

#include "core/check.h"

namespace forebay::store {
namespace {

constexpr unsigned kTokenBits = 8;  // with the leading one

}  // namespace

Spaces::Spaces(const std::vector<TenantQuota>& quotas) {
  for (const TenantQuota& quota : quotas) tenants_[tenant_named(quota.tenant)].quota = quota;
}

TenantId Spaces::tenant_named(std::string_view name) {
  const auto [at, is_new] =
      tenant_by_name_.try_emplace(std::string(name), static_cast<TenantId>(tenants_.size()));
  if (is_new) {
    tenants_.emplace_back();
    tenants_.back().quota.tenant = name;
  }
  return at->second;
}

Result<SpaceId> Spaces::register_space(std::string_view tenant,
                                       std::string_view layout_fingerprint) {
  if (last_ < spaces_.size() && spaces_[last_].tenant == tenant &&
      spaces_[last_].layout_fingerprint == layout_fingerprint) {
    return SpaceId{last_};
  }
  if (tenant.size() > kTenantBytesMax) return fail(Errc::kInvalid, "tenant name is too long");
  if (layout_fingerprint.size() > kLayoutBytesMax) {
    return fail(Errc::kInvalid, "layout fingerprint is too long");
  }
  // The tenant's length comes first, so that no two pairs of names run together to the same text.
  std::string name(1, static_cast<char>(tenant.size()));
  name.append(tenant).append(layout_fingerprint);
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    last_ = found->second;
    return SpaceId{last_};
  }
  if (spaces_.size() >= kSpacesMax) return fail(Errc::kBusy, "too many key spaces");
  last_ = static_cast<std::uint16_t>(spaces_.size());
  spaces_.push_back({std::string(tenant), std::string(layout_fingerprint)});
  tenant_of_space_.push_back(tenant_named(tenant));
  by_name_.emplace(std::move(name), last_);
  return SpaceId{last_};
}

Kind Spaces::kind_of(SpaceId space, std::uint32_t token_count) {
  const auto width = static_cast<unsigned>(std::bit_width(token_count));
  const unsigned dropped = width > kTokenBits ? width - kTokenBits : 0;
  const std::uint32_t kept = token_count >> dropped << dropped;
  if (last_kind_ != 0 && kinds_[last_kind_].space.value == space.value &&
      kinds_[last_kind_].token_count == kept) {
    return last_kind_;
  }
  const std::uint64_t pair = (std::uint64_t{space.value} << 32) | kept;
  if (const auto found = kind_by_pair_.find(pair); found != kind_by_pair_.end()) {
    last_kind_ = found->second;
    return last_kind_;
  }
  if (kinds_.size() >= kNoKind) return kNoKind;
  last_kind_ = static_cast<Kind>(kinds_.size());
  kinds_.push_back({space, kept, tenant_of(space)});
  kind_by_pair_.emplace(pair, last_kind_);
  return last_kind_;
}

void Spaces::add(TenantId tenant, Tier tier, std::uint64_t bytes) {
  tenants_[tenant].used_bytes[static_cast<std::size_t>(tier)] += bytes;
}

void Spaces::subtract(TenantId tenant, Tier tier, std::uint64_t bytes) {
  std::uint64_t& used = tenants_[tenant].used_bytes[static_cast<std::size_t>(tier)];
  FOREBAY_CHECK_LE(bytes, used);
  used -= bytes;
}

}  // namespace forebay::store

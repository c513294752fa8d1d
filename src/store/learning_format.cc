#include "store/learning_format.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/bytes.h"
#include "core/check.h"
#include "core/field_reader.h"

namespace forebay::store {
namespace {

constexpr std::uint32_t kLearnedVersion = 1;

struct Head {
  std::uint32_t version = 0;
  std::uint32_t space_count = 0;
  std::uint32_t model_count = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Head) == 16);

struct SpaceHead {
  std::uint16_t tenant_bytes = 0;
  std::uint16_t layout_bytes = 0;
};

struct ModelHead {
  std::uint32_t tier = 0;
  std::uint32_t state_bytes = 0;
  std::array<char, kPolicyNameBytesMax> policy{};  // zeroes behind the name
};
static_assert(sizeof(ModelHead) == 24);

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}
void append(std::vector<std::byte>& bytes, std::string_view text) {
  append(bytes, std::as_bytes(std::span(text)));
}

bool take_space(FieldReader& reader, Learned& learned) {
  SpaceHead head;
  LearnedSpace space;
  if (!reader.take(head) || !reader.take_text(head.tenant_bytes, space.tenant) ||
      !reader.take_text(head.layout_bytes, space.layout_fingerprint)) {
    return false;
  }
  learned.spaces.push_back(space);
  return true;
}

bool take_model(FieldReader& reader, Learned& learned) {
  std::string_view raw;
  if (!reader.take_text(sizeof(ModelHead), raw)) return false;
  const auto head = load_as<ModelHead>(std::as_bytes(std::span(raw)));
  LearnedModel model;
  if (!reader.take_bytes(head.state_bytes, model.state)) return false;
  const std::string_view name = raw.substr(offsetof(ModelHead, policy));
  model.policy = name.substr(0, name.find('\0'));
  if (head.tier == static_cast<std::uint32_t>(Tier::kDram)) model.tier = Tier::kDram;
  if (head.tier == static_cast<std::uint32_t>(Tier::kFlash)) model.tier = Tier::kFlash;
  learned.models.push_back(model);
  return true;
}

void append_model(std::vector<std::byte>& bytes, const LearnedModel& model) {
  FOREBAY_CHECK_LE(model.policy.size(), kPolicyNameBytesMax);
  ModelHead head;
  head.tier = static_cast<std::uint32_t>(model.tier);
  head.state_bytes = static_cast<std::uint32_t>(model.state.size());
  std::ranges::copy(model.policy, head.policy.begin());
  append(bytes, bytes_of(head));
  append(bytes, model.state);
}

}  // namespace

EncodedLearning encode_learned(const Learned& learned, std::size_t bytes_max) {
  EncodedLearning encoded;
  encoded.left_out_models = learned.models.size();
  Head head;
  head.version = kLearnedVersion;
  head.space_count = static_cast<std::uint32_t>(std::min(learned.spaces.size(), kLearnedSpacesMax));
  std::vector<std::byte>& bytes = encoded.bytes;
  bytes.resize(sizeof head);
  for (const LearnedSpace& space : std::span(learned.spaces).first(head.space_count)) {
    append(bytes, bytes_of(SpaceHead{static_cast<std::uint16_t>(space.tenant.size()),
                                     static_cast<std::uint16_t>(space.layout_fingerprint.size())}));
    append(bytes, space.tenant);
    append(bytes, space.layout_fingerprint);
  }
  for (const LearnedModel& model : learned.models) {
    if (bytes.size() + sizeof(ModelHead) + model.state.size() > bytes_max) continue;
    append_model(bytes, model);
    ++head.model_count;
    --encoded.left_out_models;
  }
  store_as(bytes, head);
  if (bytes.size() > bytes_max) bytes.clear();
  return encoded;
}

Result<Learned> decode_learned(std::span<const std::byte> bytes) {
  FieldReader reader(bytes);
  Head head;
  if (!reader.take(head)) return fail(Errc::kCorrupt, "learning: too short");
  if (head.version != kLearnedVersion) return fail(Errc::kVersion, "learning: another version");
  if (head.space_count > kLearnedSpacesMax || head.model_count >= kTierCount) {
    return fail(Errc::kCorrupt, "learning: impossible counts");
  }
  Learned learned;
  for (std::uint32_t i = 0; i < head.space_count; ++i) {
    if (!take_space(reader, learned)) return fail(Errc::kCorrupt, "learning: a space is cut off");
  }
  for (std::uint32_t i = 0; i < head.model_count; ++i) {
    if (!take_model(reader, learned)) return fail(Errc::kCorrupt, "learning: a model is cut off");
  }
  if (!reader.at_end()) return fail(Errc::kCorrupt, "learning: more than it says");
  return learned;
}

}  // namespace forebay::store

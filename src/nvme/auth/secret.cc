#include "nvme/auth/secret.h"

#include <utility>

#include "core/check.h"
#include "nvme/auth/key_line.h"

namespace forebay::nvme::auth {
namespace {

constexpr std::string_view kTransformText = "NVMe-over-Fabrics";
constexpr KeyLineForm kForm{
    .prefix = "DHHC-1:",
    .transform_max = 3,
    .wrong_prefix = {Errc::kInvalid, "it does not begin with DHHC-1:"},
    .wrong_transform = {Errc::kInvalid, "after DHHC-1: stands none of 00, 01, 02, 03 and a colon"}};

}  // namespace

Result<Secret> Secret::parse(std::string_view text) {
  FOREBAY_TRY(line, parse_key_line(text, kForm));
  std::optional<HashId> transform;
  if (line.transform != 0) transform = static_cast<HashId>(line.transform);
  return Secret(transform, std::move(line.key));
}

Secret Secret::make(std::optional<HashId> transform, std::size_t size, const RandomSource& random) {
  FOREBAY_CHECK(size == 32 || size == 48 || size == 64);
  SecretBytes key(size);
  random(key.bytes());
  return {transform, std::move(key)};
}

std::string Secret::text() const {
  const auto transform = static_cast<unsigned char>(transform_.value_or(HashId{0}));
  return key_line_text(kForm, {transform, key_});
}

SecretBytes Secret::key_of(std::string_view nqn) const {
  if (!transform_) return key_;
  const Mac made = hmac(*transform_, key_.bytes(),
                        {std::as_bytes(std::span(nqn)), std::as_bytes(std::span(kTransformText))});
  return SecretBytes(made.bytes());
}

}  // namespace forebay::nvme::auth

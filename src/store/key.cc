#include "store/key.h"

namespace forebay::store {
namespace {

// A four-byte little-endian length before each part: ("ab", "c") and ("a", "bc") stay apart.
void update_prefixed(Sha256& hash, std::span<const std::byte> part) {
  const auto length = static_cast<std::uint32_t>(part.size());
  hash.update(std::as_bytes(std::span(&length, 1)));
  hash.update(part);
}

}  // namespace

BlockId make_block_id(const KeySpace& space, std::span<const std::byte> engine_key) {
  Sha256 hash;
  update_prefixed(hash, std::as_bytes(std::span(space.tenant)));
  update_prefixed(hash, std::as_bytes(std::span(space.layout_fingerprint)));
  update_prefixed(hash, engine_key);
  return BlockId{hash.finish()};
}

}  // namespace forebay::store

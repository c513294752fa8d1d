// What the bytes of a KV block must be: a function of its name, so that any wrong byte shows.
//
// Every 64-byte line of a block is eight words made from one well mixed word of (key, line number),
// and the key is made from (run's content seed, block name, layout). A block of another name,
// tenant layout or seed, a line from another place, a shift by any number of bytes, a torn half or
// a flipped bit all differ from it; check_content() compares every byte and says where the first
// bad one is.
//
// Units: bytes. Threads: pure functions. Never blocks. Speed: above 8 GB/s a core (content_bench).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace forebay::engine {

struct ContentKey {
  std::uint64_t word = 0;
};

// `layout_fingerprint` as in store::KeySpace: the same name in another layout has other bytes.
[[nodiscard]] ContentKey content_key(std::uint64_t content_seed, std::uint64_t block_name,
                                     std::uint64_t layout_word);
[[nodiscard]] std::uint64_t layout_word(std::string_view tenant,
                                        std::string_view layout_fingerprint);

void fill_content(std::span<std::byte> bytes, ContentKey key);

// The offset of the first byte that is not what `key` demands, or nothing when all are.
[[nodiscard]] std::optional<std::size_t> check_content(std::span<const std::byte> bytes,
                                                       ContentKey key);

}  // namespace forebay::engine

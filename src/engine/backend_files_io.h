// One KV block as one file: written beside its name and renamed, read whole, past the page cache
// where the file system allows. As engines' own file tiers do it: no fsync, no checksum.
//
// A file holds the block padded to kFilePageBytes, because direct I/O moves whole pages; the last,
// partial page goes through a page of its own, the rest straight between file and block.
//
// Threads: safe from any; each call blocks for the time of its system calls. Errors: kNotFound,
// kNoSpace, kIo, kCorrupt (the file is shorter than the block).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/error.h"

namespace forebay::engine {

inline constexpr std::uint64_t kFilePageBytes = 4096;

[[nodiscard]] Status write_block_file(const std::string& path, std::span<const std::byte> bytes,
                                      bool direct);
[[nodiscard]] Status read_block_file(const std::string& path, std::span<std::byte> bytes,
                                     bool direct);
// Whether files in `directory` can be opened for direct I/O.
[[nodiscard]] Result<bool> direct_io_works(const std::string& directory);

}  // namespace forebay::engine

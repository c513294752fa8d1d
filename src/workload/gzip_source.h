// The contents of a gzip file (RFC 1952), as a stream; several members behind each other are one.
//
// Errors: kCorrupt for what is cut short, broken, or followed by other bytes. Memory: fixed
// buffers.
#pragma once

#include <memory>
#include <string_view>

#include "workload/byte_source.h"

namespace forebay::workload {

inline constexpr std::string_view kGzipMagic = "\x1f\x8b";

[[nodiscard]] std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> packed);

}  // namespace forebay::workload

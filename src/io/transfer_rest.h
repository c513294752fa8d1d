// What is left of a scattered transfer after some bytes moved: the engines' answer to short I/O.
//
// Threads: one owner. Allocates only when the first transfer was short, which is rare.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <vector>

namespace forebay::io {

// `buffers` without their first `done_bytes`.
[[nodiscard]] inline std::vector<iovec> rest_of(std::span<const iovec> buffers,
                                                std::size_t done_bytes) {
  std::vector<iovec> rest;
  for (const iovec& piece : buffers) {
    if (done_bytes >= piece.iov_len) {
      done_bytes -= piece.iov_len;
      continue;
    }
    rest.push_back({static_cast<char*>(piece.iov_base) + done_bytes, piece.iov_len - done_bytes});
    done_bytes = 0;
  }
  return rest;
}

// The pieces of a socket's transfer as sendmsg() and recvmsg() take them.
[[nodiscard]] inline msghdr message_of(std::span<const iovec> buffers) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(buffers.data());  // it is only read
  message.msg_iovlen = buffers.size();
  return message;
}

[[nodiscard]] inline std::size_t total_bytes(std::span<const iovec> buffers) {
  std::size_t total = 0;
  for (const iovec& piece : buffers) total += piece.iov_len;
  return total;
}

// Direct files: every address, length and the offset must be multiples of `align_bytes`.
[[nodiscard]] inline bool all_aligned(std::span<const iovec> buffers, std::uint64_t offset_bytes,
                                      std::uint32_t align_bytes) {
  std::uint64_t bits = offset_bytes;
  for (const iovec& piece : buffers) {
    bits |= reinterpret_cast<std::uintptr_t>(piece.iov_base) | piece.iov_len;
  }
  return align_bytes <= 1 || bits % align_bytes == 0;
}

}  // namespace forebay::io

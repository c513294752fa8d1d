// One asynchronous operation on a file or socket: caller-owned, intrusive, with a callback.
//
// Ownership: the caller owns the Op and every buffer it names; all must stay until on_done ran,
// even after cancel(). Threads: an Op belongs to the core whose Engine took it.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/error.h"

namespace forebay::io {

// A file or socket opened through an Engine; -1 is none.
using FileId = std::int32_t;
inline constexpr FileId kNoFile = -1;

enum class OpKind : std::uint8_t {
  kNop,      // completes at once: measures the loop itself
  kRead,     // scattered read at offset_bytes
  kWrite,    // gathered write at offset_bytes
  kFlush,    // everything acknowledged before is durable after (fdatasync)
  kDiscard,  // offset_bytes, length_bytes: contents no longer matter
  kAccept,   // done_bytes is the new FileId
  kConnect,  // address, address_bytes
  kReceive,  // socket; done_bytes 0 means the peer closed
  kSend,     // socket; may be short
};

// Where an Op stands; printed by debug dumps and checked by the engines.
enum class OpState : std::uint8_t { kIdle, kQueued, kInFlight, kCancelling, kDone };

struct Op {
  OpKind kind = OpKind::kNop;
  OpState state = OpState::kIdle;  // owned by the engine
  FileId file = kNoFile;
  std::uint64_t offset_bytes = 0;  // multiple of FileFacts::align_bytes for direct files
  std::uint64_t length_bytes = 0;  // kDiscard only; else the sum of `buffers`
  std::span<const iovec> buffers;  // at most kIovecsMax; direct files: each base and length aligned
  const void* address = nullptr;   // kConnect: sockaddr
  std::uint32_t address_bytes = 0;

  Result<std::size_t> done_bytes{std::size_t{0}};  // short only at the end of a file or on a socket
  void (*on_done)(Op&) = nullptr;                  // on the owning core, exactly once
  void* context = nullptr;                         // the caller's

  Op* next = nullptr;             // owned by the engine while in flight
  std::uint64_t engine_word = 0;  // owned by the engine while in flight
  msghdr message{};               // owned by the engine while in flight
};

inline constexpr std::size_t kIovecsMax = 1024;  // UIO_MAXIOV

[[nodiscard]] const char* to_string(OpKind kind);
[[nodiscard]] const char* to_string(OpState state);

}  // namespace forebay::io

// The seam between the product and the world: one asynchronous I/O queue per core.
//
// uring.h drives a kernel ring, posix.h a pool of threads, sim.h a seeded disk in virtual time;
// nothing above io/ can tell them apart, and io/conformance_test.cc holds all three to one promise.
//
// Threads: an Engine belongs to the core that made it; only wake() may be called from elsewhere.
// Blocking: open() and the other file calls may block (start-up and tests only). submit() never
// blocks; poll() waits at most `wait`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/error.h"
#include "io/op.h"

namespace forebay::io {

// Many may share a file, one alone may have it exclusively.
enum class FileLock : std::uint8_t { kNone, kShared, kExclusive };

struct OpenOptions {
  bool write = false;
  bool create = false;  // make it when absent; never truncates
  bool direct = true;   // O_DIRECT where the file system allows; FileFacts::direct tells
  // kExists when another process holds the file (flock) so that both cannot be, and does so for
  // another second: one that has just ended may (io/file_lock.h). The log then names the file and
  // the process.
  FileLock lock = FileLock::kNone;
};

struct FileFacts {
  std::uint64_t size_bytes = 0;
  std::uint32_t align_bytes = 1;         // of offset, length and buffer address; 1 when buffered
  std::uint32_t transfer_bytes_max = 0;  // largest sensible single operation
  bool transfer_probed = false;          // the disk's queue told it; else a constant
  bool direct = false;                   // bypasses the page cache
  bool block_device = false;             // raw disk: size is fixed
  std::string why_buffered;              // set when direct was wanted and refused
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "uring", "posix", "sim"
  [[nodiscard]] virtual const Clock& clock() const = 0;

  // kNotFound, kDenied, kExists (lock), kIo. Alignment is probed by reading, never assumed.
  [[nodiscard]] virtual Result<FileId> open(const std::string& path,
                                            const OpenOptions& options) = 0;
  [[nodiscard]] virtual const FileFacts& facts(FileId file) const = 0;
  // Preallocates (fallocate) so that later writes cannot run out of space. kNoSpace.
  [[nodiscard]] virtual Status allocate(FileId file, std::uint64_t size_bytes) = 0;
  // No Op on `file` may be in flight.
  virtual void close(FileId file) = 0;

  // Sockets: a listening or connecting stream socket. address: sockaddr of any family.
  [[nodiscard]] virtual Result<FileId> listen(const void* address, std::uint32_t address_bytes) = 0;
  [[nodiscard]] virtual Result<FileId> socket(int family) = 0;
  // The bound port of a listening socket (after port 0).
  [[nodiscard]] virtual Result<std::uint16_t> local_port(FileId file) const = 0;
  // Who is at the other end of a connection, for logs: "192.0.2.7:40112", "[2001:db8::7]:40112";
  // "an unknown address" where there is none to tell.
  [[nodiscard]] virtual std::string peer_name(FileId /*file*/) const {
    return "an unknown address";
  }

  // kBusy: the queue already holds ops_max(); `op` was not taken.
  [[nodiscard]] virtual Status submit(Op& op) = 0;
  [[nodiscard]] virtual std::size_t ops_max() const = 0;
  // Best effort: on_done still runs exactly once, with kCancelled or the true outcome.
  virtual void cancel(Op& op) = 0;
  // Runs the callbacks of finished ops; returns how many ran. Waits at most `wait` for the first.
  virtual std::size_t poll(Nanos wait) = 0;
  // From any thread: makes a waiting poll() return soon.
  virtual void wake() = 0;
};

enum class EngineChoice : std::uint8_t { kAuto, kUring, kPosix };
// kAuto: io_uring, or posix after one log line that says why io_uring was refused.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_engine(EngineChoice choice,
                                                          std::size_t ops_max = 1024);

}  // namespace forebay::io

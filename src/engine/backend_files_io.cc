#include "engine/backend_files_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/bytes.h"

namespace forebay::engine {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  // Some file systems report a failed write only here.
  [[nodiscard]] int close_now() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

struct alignas(kFilePageBytes) Page {
  std::array<std::byte, kFilePageBytes> bytes{};
};

// The block as whole pages: its own, and one that stands in for its partial last one.
struct Pieces {
  std::array<iovec, 2> iov{};
  int count = 0;
  std::size_t size = 0;

  Pieces(std::span<std::byte> block, Page& last) {
    const std::size_t whole = round_down(block.size(), kFilePageBytes);
    if (whole > 0) add(block.data(), whole);
    if (whole < block.size()) add(last.bytes.data(), kFilePageBytes);
  }
  void add(std::byte* at, std::size_t length) {
    iov[static_cast<std::size_t>(count++)] = {.iov_base = at, .iov_len = length};
    size += length;
  }
  // What is left after the first `done` bytes.
  void skip(std::size_t done) {
    size -= done;
    while (done > 0 && done >= iov[0].iov_len) {
      done -= iov[0].iov_len;
      iov[0] = iov[1];
      --count;
    }
    iov[0].iov_base = static_cast<std::byte*>(iov[0].iov_base) + done;
    iov[0].iov_len -= done;
  }
};

int open_flags(int flags, bool direct) { return flags | O_CLOEXEC | (direct ? O_DIRECT : 0); }

// The folder of a new block's file is made when the first file needs it.
int open_new(const std::string& path, bool direct) {
  const int flags = open_flags(O_WRONLY | O_CREAT | O_TRUNC, direct);
  const int fd = ::open(path.c_str(), flags, 0644);
  if (fd >= 0 || errno != ENOENT) return fd;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), 0755);  // what is there already is fine
  }
  return ::open(path.c_str(), flags, 0644);
}

Status write_pages(int fd, Pieces pieces) {
  std::uint64_t offset = 0;
  while (pieces.size > 0) {
    const ssize_t done = ::pwritev(fd, pieces.iov.data(), pieces.count, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return std::unexpected(error_from_errno(errno, "write a block's file"));
    if (done == 0) return fail(Errc::kIo, "write a block's file");
    offset += static_cast<std::uint64_t>(done);
    pieces.skip(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace

Status write_block_file(const std::string& path, std::span<const std::byte> bytes, bool direct) {
  // Two writers of one block must not share the file beside it.
  static std::atomic<std::uint64_t> counter{0};
  const std::string beside = path + "." + std::to_string(counter.fetch_add(1)) + ".tmp";
  FileDescriptor file(open_new(beside, direct));
  if (!file.open()) return std::unexpected(error_from_errno(errno, "make a block's file"));
  Page last;
  const std::size_t whole = round_down(bytes.size(), kFilePageBytes);
  std::memcpy(last.bytes.data(), bytes.data() + whole, bytes.size() - whole);
  // pwritev only reads from what iovec cannot declare const.
  auto* at = const_cast<std::byte*>(bytes.data());
  Status done = write_pages(file.get(), Pieces({at, bytes.size()}, last));
  if (file.close_now() != 0 && done) {
    done = std::unexpected(error_from_errno(errno, "close a block's file"));
  }
  if (done && ::rename(beside.c_str(), path.c_str()) != 0) {
    done = std::unexpected(error_from_errno(errno, "rename a block's file"));
  }
  if (!done) ::unlink(beside.c_str());
  return done;
}

Status read_block_file(const std::string& path, std::span<std::byte> bytes, bool direct) {
  const FileDescriptor file(::open(path.c_str(), open_flags(O_RDONLY, direct)));
  if (!file.open()) return std::unexpected(error_from_errno(errno, "open a block's file"));
  Page last;
  Pieces pieces(bytes, last);
  std::uint64_t offset = 0;
  while (pieces.size > 0) {
    const ssize_t done =
        ::preadv(file.get(), pieces.iov.data(), pieces.count, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return std::unexpected(error_from_errno(errno, "read a block's file"));
    if (done == 0) return fail(Errc::kCorrupt, "a block's file is too short");
    offset += static_cast<std::uint64_t>(done);
    pieces.skip(static_cast<std::size_t>(done));
  }
  const std::size_t whole = round_down(bytes.size(), kFilePageBytes);
  std::memcpy(bytes.data() + whole, last.bytes.data(), bytes.size() - whole);
  return {};
}

Result<bool> direct_io_works(const std::string& directory) {
  const std::string probe = directory + "/direct-io-probe.tmp";
  const Page page;
  for (const bool direct : {true, false}) {
    FileDescriptor file(open_new(probe, direct));
    if (!file.open()) {
      if (direct && errno == EINVAL) continue;
      return std::unexpected(error_from_errno(errno, "make a file in the directory"));
    }
    const ssize_t done = ::pwrite(file.get(), page.bytes.data(), page.bytes.size(), 0);
    const int os_code = errno;
    ::unlink(probe.c_str());
    if (done == static_cast<ssize_t>(page.bytes.size())) return direct;
    if (!direct) return std::unexpected(error_from_errno(os_code, "write in the directory"));
  }
  return false;
}

}  // namespace forebay::engine

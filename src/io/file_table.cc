#include "io/file_table.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/fs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"
#include "core/log.h"
#include "io/file_lock.h"
#include "io/queue_limits.h"

namespace forebay::io {
namespace {

// Where no queue tells its limit (tmpfs, overlays): the kernel splits larger transfers itself, and
// beyond this nothing is gained (measured on virtio and NVMe queues of 256 and more).
constexpr std::uint32_t kTransferBytesUnknown = 16 << 20;
constexpr std::uint32_t kAlignBytesMax = 64 << 10;
constexpr int kListenBacklog = 128;

// The smallest alignment at which this file takes a direct read, or 0 when none works.
std::uint32_t probe_alignment(int descriptor) {
#ifdef STATX_DIOALIGN
  struct statx facts{};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 &&
      (facts.stx_mask & STATX_DIOALIGN) != 0 && facts.stx_dio_offset_align != 0) {
    return std::max({facts.stx_dio_offset_align, facts.stx_dio_mem_align, 512U});
  }
#endif
  void* memory = std::aligned_alloc(kAlignBytesMax, 2 * kAlignBytesMax);
  if (memory == nullptr) return 0;
  auto* base = static_cast<char*>(memory);
  std::uint32_t found = 0;
  for (std::uint32_t align = 512; align <= kAlignBytesMax && found == 0; align *= 2) {
    // An address that is a multiple of `align` and of nothing larger.
    if (::pread(descriptor, base + align, align, align) >= 0) found = align;
  }
  std::free(memory);
  return found;
}

// Opening a pipe waits for its other end, and no device could be on one anyway.
Status check_kind(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return {};  // open() says why, or makes it
  const mode_t kind = status.st_mode & S_IFMT;
  if (kind == S_IFREG || kind == S_IFBLK || kind == S_IFDIR) return {};
  return fail(Errc::kInvalid, "open: neither a file nor a disk");
}

// A file that takes no direct I/O is used through the page cache, and says why.
int open_descriptor(const std::string& path, const OpenOptions& options, FileFacts& facts) {
  const int mode = (options.write ? O_RDWR : O_RDONLY) | O_CLOEXEC | (options.create ? O_CREAT : 0);
  if (options.direct) {
    const int descriptor = ::open(path.c_str(), mode | O_DIRECT, 0644);
    if (descriptor >= 0) {
      facts.align_bytes = probe_alignment(descriptor);
      facts.direct = facts.align_bytes != 0;
      if (facts.direct) return descriptor;
      ::close(descriptor);
      facts.why_buffered = "no alignment up to 64 KiB is accepted for direct I/O";
    } else if (errno == EINVAL || errno == EOPNOTSUPP) {
      facts.why_buffered = "the file system refuses O_DIRECT";
    } else {
      return -1;
    }
  }
  facts.align_bytes = 1;
  return ::open(path.c_str(), mode, 0644);
}

Status read_size(int descriptor, FileFacts& facts) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return std::unexpected(error_from_errno(errno, "stat"));
  if (S_ISDIR(status.st_mode)) return fail(Errc::kInvalid, "open: a folder, not a file", EISDIR);
  facts.size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (S_ISBLK(status.st_mode)) {
    facts.block_device = true;
    if (ioctl(descriptor, BLKGETSIZE64, &facts.size_bytes) != 0) {
      return std::unexpected(error_from_errno(errno, "size of block device"));
    }
  }
  const dev_t disk = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
  const auto probed = queue_transfer_bytes("/sys", major(disk), minor(disk));
  facts.transfer_probed = probed.has_value();
  // Never below the alignment, or nothing could be moved.
  facts.transfer_bytes_max = std::max(probed.value_or(kTransferBytesUnknown), facts.align_bytes);
  return {};
}

// An Error has no room for the path and the process: the log has.
Status lock(int descriptor, FileLock kind, const std::string& path) {
  if (kind == FileLock::kNone) return {};
  const int operation = kind == FileLock::kShared ? LOCK_SH : LOCK_EX;
  const Status locked = lock_file(descriptor, operation, wait_a_second());
  if (!locked && locked.error().code == Errc::kExists) {
    const auto holder = lock_holder(descriptor);
    log_warn("{}: {} has it open", path,
             holder ? "process " + std::to_string(*holder) : "another process");
  }
  return locked;
}

}  // namespace

FileTable::~FileTable() {
  for (const auto& entry : entries_) {
    if (entry && entry->descriptor >= 0) ::close(entry->descriptor);
  }
}

FileId FileTable::add(Entry entry) {
  const auto free = std::ranges::find_if(entries_, [](const auto& e) { return e == nullptr; });
  auto made = std::make_unique<Entry>(std::move(entry));
  const auto index = static_cast<FileId>(free - entries_.begin());
  if (free != entries_.end()) {
    *free = std::move(made);
  } else {
    entries_.push_back(std::move(made));
  }
  return index;
}

Result<FileId> FileTable::open(const std::string& path, const OpenOptions& options) {
  FOREBAY_TRY_STATUS(check_kind(path));
  Entry entry;
  entry.descriptor = open_descriptor(path, options, entry.facts);
  if (entry.descriptor < 0) return std::unexpected(error_from_errno(errno, "open"));
  Status ready = read_size(entry.descriptor, entry.facts);
  if (ready) ready = lock(entry.descriptor, options.lock, path);
  if (!ready) {
    ::close(entry.descriptor);
    return std::unexpected(ready.error());
  }
  if (options.direct && !entry.facts.direct) {
    log_warn("{}: {}; using the page cache", path, entry.facts.why_buffered);
  }
  return add(std::move(entry));
}

Status FileTable::allocate(FileId file, std::uint64_t size_bytes) {
  Entry& entry = *entries_[static_cast<std::size_t>(file)];
  if (entry.facts.block_device) {
    return size_bytes <= entry.facts.size_bytes
               ? Status{}
               : fail(Errc::kNoSpace, "allocate: the disk is smaller than asked");
  }
  const int error = posix_fallocate(entry.descriptor, 0, static_cast<off_t>(size_bytes));
  if (error != 0) return std::unexpected(error_from_errno(error, "allocate"));
  return read_size(entry.descriptor, entry.facts);
}

void FileTable::close(FileId file) {
  auto& entry = entries_[static_cast<std::size_t>(file)];
  FOREBAY_CHECK(entry != nullptr);
  ::close(entry->descriptor);
  entry = nullptr;
}

FileId FileTable::adopt_socket(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // not TCP: harmless refusal
  Entry entry;
  entry.descriptor = descriptor;
  return add(std::move(entry));
}

Result<FileId> FileTable::socket(int family) {
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return std::unexpected(error_from_errno(errno, "socket"));
  return adopt_socket(descriptor);
}

Result<FileId> FileTable::listen(const void* address, std::uint32_t address_bytes) {
  FOREBAY_TRY(file, socket(static_cast<const sockaddr*>(address)->sa_family));
  const int descriptor = this->descriptor(file);
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(descriptor, static_cast<const sockaddr*>(address), address_bytes) != 0 ||
      ::listen(descriptor, kListenBacklog) != 0) {
    const Error error = error_from_errno(errno, "listen");
    close(file);
    return std::unexpected(error);
  }
  return file;
}

Result<std::uint16_t> FileTable::local_port(FileId file) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(descriptor(file), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return std::unexpected(error_from_errno(errno, "local port"));
  }
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  }
  return fail(Errc::kUnsupported, "local port: not an internet socket");
}

std::string FileTable::peer_name(FileId file) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const bool told =
      getpeername(descriptor(file), reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
      getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(),
                  port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) == 0;
  if (!told) return "an unknown address";
  return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                       : fmt::format("{}:{}", host.data(), port.data());
}

const FileFacts& FileTable::facts(FileId file) const {
  FOREBAY_CHECK(descriptor(file) >= 0);
  return entries_[static_cast<std::size_t>(file)]->facts;
}

int FileTable::descriptor(FileId file) const {
  const auto index = static_cast<std::size_t>(file);
  if (file < 0 || index >= entries_.size() || entries_[index] == nullptr) return -1;
  return entries_[index]->descriptor;
}

}  // namespace forebay::io

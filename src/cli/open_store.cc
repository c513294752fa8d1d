#include "cli/open_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "block/device_url.h"
#include "cli/device_hint.h"
#include "cli/process_limit.h"
#include "cli/short_store.h"
#include "cli/standard_error.h"
#include "cli/store_size.h"
#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "store/tier/flash_format.h"
#include "store/tier/flash_layout.h"

namespace forebay::cli {
namespace {

std::vector<std::string> paths_of(const std::string& url) {
  const auto parsed = block::parse_device_url(url);
  return parsed ? parsed->paths : std::vector<std::string>{};
}

// Of a store that should be there.
bool explained_by_size(const std::string& url, const Error& error,
                       const OpenStoreOptions& options) {
  const bool may_be =
      error.code == Errc::kCorrupt || error.code == Errc::kNoSpace || error.code == Errc::kInvalid;
  return may_be && options.size_bytes == 0 && explain_short_store(url, paths_of(url));
}

void explain(const std::string& url, const Error& error, const OpenStoreOptions& options) {
  if (explained_by_size(url, error, options)) return;
  const auto words = device_words(url, error);
  tell("{}: {}\n", url, words ? words->what : local_failure(error));
  if (const std::string hint = limit_hint(error); !hint.empty()) {
    tell_lines(hint);
    return;
  }
  if (words) {
    tell("  hint: {}\n", words->hint);
    return;
  }
  switch (error.code) {
    case Errc::kExists:
      tell(
          "  hint: end that process; where it is `forebay target`, use the disk through the URL "
          "that it serves, nvme+tcp://...\n");
      break;
    case Errc::kNotFound:
      tell("  hint: {}\n", options.size_bytes == 0
                               ? "check the path, or make a store with `store put --size`"
                               : "the folder of the store must exist");
      break;
    case Errc::kCorrupt:
      tell(
          "  hint: this holds no Forebay store, or a damaged one; nothing was written. "
          "--size makes a store only where there is nothing: name another path\n");
      break;
    case Errc::kNoSpace:
      tell("  hint: free space on the file system, or choose a smaller --size\n");
      break;
    case Errc::kReadOnly:
    case Errc::kDenied:
      tell("  hint: {}\n",
           options.reads_only
               ? "this user must be allowed to read the file"
               : "make the file and its mount writable, or `forebay store export` the blocks "
                 "and import them into a store elsewhere");
      break;
    case Errc::kInvalid:
    case Errc::kBusy:
    case Errc::kTimedOut:
    case Errc::kCancelled:
    case Errc::kIo:
    case Errc::kGone:
    case Errc::kUnsupported:
    case Errc::kVersion:
      break;
  }
}

bool is_empty(std::span<const std::byte> page) {
  return std::ranges::all_of(page, [](std::byte byte) { return byte == std::byte{0}; });
}

// Bytes, of whole pages but at the end of a file. The marks of a format that was killed are
// nothing.
bool is_nothing(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto page = bytes.first(std::min<std::size_t>(bytes.size(), store::kPageBytesMin));
    if (!is_empty(page) && !store::is_format_mark(page)) return false;
    bytes = bytes.subspan(page.size());
  }
  return true;
}

// Where the next bytes stand that were ever written; `at` where nobody can tell.
std::int64_t next_data(int descriptor, std::int64_t at, std::int64_t end) {
  const std::int64_t data = ::lseek(descriptor, at, SEEK_DATA);
  if (data < 0) return errno == ENXIO ? end : at;
  return static_cast<std::int64_t>(
      round_down(static_cast<std::uint64_t>(data), store::kPageBytesMin));
}

// Whether a file holds anything, or a disk at its beginning: what --size must not format.
bool holds_something(const std::string& path) {
  constexpr std::int64_t kLookBytes = 1 << 20;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  struct stat facts{};
  const bool is_file = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  const std::int64_t end = is_file ? facts.st_size : kLookBytes;
  std::vector<std::byte> bytes(kLookBytes);
  bool nothing = true;
  for (std::int64_t at = is_file ? next_data(descriptor, 0, end) : 0; nothing && at < end;) {
    const ssize_t size = ::pread(descriptor, bytes.data(), bytes.size(), at);
    if (size <= 0) break;
    nothing = is_nothing(std::span(bytes).first(static_cast<std::size_t>(size)));
    at += size;
    if (is_file && at < end) at = std::max(at, next_data(descriptor, at, end));
  }
  ::close(descriptor);
  return !nothing;
}

// Whether an open device holds anything at its beginning.
Result<bool> holds_something_at_first(const OpenStore& opened) {
  constexpr std::size_t kLookBytes = 1 << 20;
  block::Device& device = *opened.device;
  const std::uint64_t size = std::min<std::uint64_t>(kLookBytes, device.geometry().size_bytes);
  const AlignedMemory memory = allocate_aligned(size, device.geometry().align_bytes);
  FOREBAY_TRY(read, opened.loop->run(block::read_piece(&device, 0, {memory.get(), size})));
  return !is_nothing({memory.get(), read});
}

// The same of a disk elsewhere; nothing when it says why it cannot tell.
std::optional<bool> holds_something_there(const std::string& url) {
  const auto opened = open_flash_device(url, {.reads_only = true});
  if (!opened) return std::nullopt;
  const auto looked = holds_something_at_first(*opened);
  if (looked) return *looked;
  explain(url, looked.error(), {});
  return std::nullopt;
}

// Of what nothing was ever stored on, that it is no damaged store; whether it is that. Files are
// looked at whole: the making of a store that was killed may have left them.
bool explained_by_blank(const std::string& url, const Error& error, const OpenStore& opened) {
  if (error.code != Errc::kCorrupt) return false;
  const bool disk = block::names_disk(url);
  const auto looked =
      disk ? holds_something_at_first(opened) : std::ranges::any_of(paths_of(url), holds_something);
  if (!looked || *looked) return false;
  const std::uint64_t size = opened.device->geometry().size_bytes;
  tell(
      "{}: holds no store yet: {}\n  hint: the first `forebay store put` or `import` makes one, "
      "{}: --size {}\n",
      url,
      disk ? fmt::format("the disk ({}) begins with nothing", format_bytes(size))
           : fmt::format("there are {} of nothing", format_bytes(size)),
      disk ? "with the size of the disk" : "with a size such as this one's", size);
  return true;
}

// Of the files that --size makes (block::open_device).
std::uint64_t size_made(const std::string& url, std::uint64_t asked) {
  const auto parsed = block::parse_device_url(url);
  if (!parsed || parsed->paths.size() == 1) return asked;
  const std::uint64_t parts = parsed->paths.size();
  return parts * round_up(divide_up(asked, parts), parsed->stripe_unit_bytes);
}

// What has the size that it has, here or elsewhere.
bool is_disk(const std::string& url) {
  const auto parsed = block::parse_device_url(url);
  if (parsed && parsed->scheme != nullptr) return true;
  return std::ranges::any_of(paths_of(url), [](const std::string& path) {
    std::error_code failed;
    return std::filesystem::is_block_file(path, failed);
  });
}

// Whether a disk has the size asked for; says so where not: a store takes all of it.
bool disk_has_size(const std::string& url, std::uint64_t asked, const OpenStore& opened) {
  const std::uint64_t there = opened.device->geometry().size_bytes;
  if (asked == there) return true;
  tell(
      "--size: the disk {} has {} ({} bytes), not {} ({} bytes), and a store takes all of it\n"
      "  hint: --size {}, or name a file or a smaller disk\n",
      url, format_bytes(there), there, format_bytes(asked), asked, there);
  return false;
}

// Whether the files of a store that is there have the size asked for; says so where not. A disk is
// asked by disk_has_size().
bool has_size(const std::string& url, std::uint64_t asked) {
  if (is_disk(url)) return true;
  std::uint64_t there = 0;
  for (const std::string& path : paths_of(url)) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) return true;
    there += std::filesystem::file_size(path, failed);
  }
  if (there == size_made(url, asked)) return true;
  tell(
      "--size: {} is {} ({} bytes), not {} ({} bytes)\n  hint: leave --size out, or make "
      "another store of that size and move the blocks with `forebay store export` and "
      "`import`\n",
      url, format_bytes(there), there, format_bytes(asked), asked);
  return false;
}

// Whether a store of that size can be made; says so where not. A disk is asked by disk_has_size().
bool makes_store(const std::string& url, std::uint64_t asked) {
  if (is_disk(url)) return true;
  const std::uint64_t least = smallest_store_bytes();
  if (size_made(url, asked) >= least) return true;
  tell("--size: {} bytes are too few for a store\n  hint: the smallest has {}\n", asked, least);
  return false;
}

// Whether a file is there that this process may not write, for its mode or its mount.
bool refuses_writes(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0 && errno != ENOENT;
}

std::vector<std::string> absent_paths(const std::string& url) {
  std::vector<std::string> absent = paths_of(url);
  std::erase_if(absent, [](const std::string& path) {
    std::error_code failed;
    return std::filesystem::exists(path, failed) || failed;
  });
  return absent;
}

// What --size must not format; nothing when it says why it cannot tell.
std::optional<bool> is_taken(const std::string& url) {
  const auto parsed = block::parse_device_url(url);
  if (parsed && parsed->scheme != nullptr) return holds_something_there(url);
  return std::ranges::any_of(paths_of(url), holds_something);
}

// What to do about a block that the store cannot hold: the size that would, where there is one.
std::string larger_store(const std::string& url, std::uint64_t data_bytes,
                         const block::Geometry& geometry) {
  constexpr std::uint64_t kSizeMin = kMiB;
  constexpr std::uint64_t kSizeMax = 16 * kGiB;  // records stop growing before
  for (std::uint64_t size = kSizeMin; size <= kSizeMax; size *= 2) {
    block::Geometry larger = geometry;
    larger.size_bytes = size;
    if (store::block_bytes_max(larger) < data_bytes) continue;
    if (block::names_disk(url)) {
      return fmt::format("cut it into smaller blocks, or use a disk of {} MiB or more",
                         size / kMiB);
    }
    return fmt::format("make a store at another path with --size {}M or more", size / kMiB);
  }
  return "no store takes it: cut it into smaller blocks";
}

// Whether a block fits; says why not. A store that will be formatted is judged by its device.
bool holds_block(const std::string& url, const OpenStore& opened, const OpenStoreOptions& options) {
  const std::uint64_t most = opened.store ? opened.store->stats().flash.data_bytes_max
                                          : store::block_bytes_max(opened.device->geometry());
  // 0: too small for any store, which opening it will say.
  if (most == 0 || options.data_bytes <= most) return true;
  tell("{}: a block here has at most {} bytes ({}), this one has {} ({})\n  hint: {}\n", url, most,
       format_bytes(most), options.data_bytes, format_bytes(options.data_bytes),
       larger_store(url, options.data_bytes, opened.device->geometry()));
  return false;
}

// `asked_bytes`: of --size, which `options` have only where a store may be made.
std::expected<OpenStore, int> open_or_format(const std::string& url,
                                             const OpenStoreOptions& options,
                                             std::uint64_t asked_bytes) {
  auto opened = open_flash_device(url, options);
  if (!opened) return std::unexpected(kExitFailed);
  if (asked_bytes != 0 && is_disk(url) && !disk_has_size(url, asked_bytes, *opened)) {
    return std::unexpected(kExitUsage);
  }
  if (options.size_bytes != 0 && !holds_block(url, *opened, options)) {
    return std::unexpected(kExitFailed);
  }
  store::StoreOptions store_options;
  store_options.dram_bytes = options.dram_bytes;
  store_options.flash = opened->device.get();
  store_options.keep_damaged = options.reads_only;
  store_options.flash_options.format = options.size_bytes != 0;
  auto store = opened->loop->run(store::Store::open(opened->loop.get(), std::move(store_options)));
  if (!store) {
    if (!explained_by_blank(url, store.error(), *opened)) explain(url, store.error(), options);
    return std::unexpected(kExitFailed);
  }
  opened->store = std::move(*store);
  if (!holds_block(url, *opened, options)) {
    (void)close_store(*opened);
    return std::unexpected(kExitFailed);
  }
  return std::move(*opened);
}

void remove_files(const std::vector<std::string>& paths) {
  std::error_code ignored;
  for (const std::string& path : paths) std::filesystem::remove(path, ignored);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::optional<OpenStore> open_flash_device(const std::string& url,
                                           const OpenStoreOptions& options) {
  OpenStore opened;
  auto engine = io::make_engine(io::EngineChoice::kAuto);
  if (!engine) {
    explain(url, engine.error(), options);
    return std::nullopt;
  }
  opened.engine = std::move(*engine);
  opened.loop = std::make_unique<io::Loop>(*opened.engine);
  auto device = block::open_device(*opened.loop, url,
                                   {.size_bytes = options.size_bytes,
                                    .write = !options.reads_only,
                                    .create = options.size_bytes != 0});
  if (!device) {
    explain(url, device.error(), options);
    return std::nullopt;
  }
  opened.device = std::move(*device);
  return opened;
}

bool takes_writes(const std::string& url) {
  return std::ranges::none_of(paths_of(url), refuses_writes);
}

bool names_store(const std::string& url, const std::string& path) {
  return std::ranges::any_of(paths_of(url), [&](const std::string& part) {
    std::error_code absent;
    return std::filesystem::equivalent(part, path, absent);
  });
}

std::uint64_t asked_size(const Invocation& call) {
  if (!call.has("--size")) return 0;
  const std::size_t before = call.mistakes().count();
  const std::uint64_t asked = call.bytes("--size");
  if (call.mistakes().count() != before) return 0;
  if (asked == 0) {
    call.mistakes().add("--size", fmt::format("`{}` makes no store", call.text("--size")),
                        "write a size such as 200G, or leave --size out for a store that is there");
    return 0;
  }
  return asked;
}

std::expected<OpenStore, int> open_store(const std::string& url, const OpenStoreOptions& asked) {
  OpenStoreOptions options = asked;
  std::vector<std::string> made;
  if (const auto parsed = block::parse_device_url(url); !parsed) {
    explain(url, parsed.error(), options);
    return std::unexpected(kExitUsage);
  }
  const auto look = asked.size_bytes == 0 ? std::optional(false) : is_taken(url);
  if (!look) return std::unexpected(kExitFailed);
  const bool is_there = *look;
  if (is_there) options.size_bytes = 0;
  if (options.size_bytes != 0) {
    if (!makes_store(url, options.size_bytes)) return std::unexpected(kExitUsage);
    made = absent_paths(url);
  }
  auto opened = open_or_format(url, options, asked.size_bytes);
  if (!opened) {
    remove_files(made);
    return opened;
  }
  opened->made = std::move(made);
  if (is_there && !has_size(url, asked.size_bytes)) {
    (void)close_store(*opened);
    return std::unexpected(kExitUsage);
  }
  return std::move(*opened);
}

void unmake_store(OpenStore opened) {
  opened.store.reset();
  opened.device.reset();
  remove_files(opened.made);
}

bool close_store(OpenStore& opened) {
  const Status closed = opened.loop->run(opened.store->close());
  if (!closed) tell_failure("close", closed.error());
  return closed.has_value();
}

std::optional<store::BlockId> parse_block_id(const std::string& hex) {
  store::BlockId id;
  if (hex.size() != 2 * id.digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < id.digest.size(); ++i) {
    const int high = hex_digit(hex[2 * i]);
    const int low = hex_digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.digest[i] = static_cast<std::byte>(high * 16 + low);
  }
  return id;
}

BlockBuffer::BlockBuffer(std::size_t size_bytes) {
  memory_ = allocate_aligned(size_bytes);
  piece_ = {memory_.get(), size_bytes};
}

store::MissReason load_block(OpenStore& opened, store::SpaceId space, const store::BlockId& id,
                             const BlockBuffer& buffer) {
  std::array<store::GetItem, 1> items;
  items[0].id = id;
  items[0].buffer = buffer.lend();
  (void)opened.loop->run(opened.store->get(items, {.space = space}));
  return items[0].miss;
}

}  // namespace forebay::cli

#include "cli/short_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "cli/standard_error.h"
#include "cli/store_size.h"
#include "core/bytes.h"
#include "store/tier/flash_format.h"

namespace forebay::cli {
namespace {

// Of all files together; nothing where one is no file.
std::optional<std::uint64_t> bytes_of(const std::vector<std::string>& paths) {
  std::uint64_t bytes = 0;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) return std::nullopt;
    bytes += std::filesystem::file_size(path, failed);
    if (failed) return std::nullopt;
  }
  return bytes;
}

// Of a store, as either copy of its superblock says: both stand in the first file.
struct MadeWith {
  std::uint64_t device_bytes = 0;  // all there was
  std::uint64_t needed_bytes = 0;  // without what comes last and may be missing
};

std::optional<MadeWith> read_made_with(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::optional<MadeWith> made;
  for (const std::uint64_t offset : store::kSuperblockOffsets) {
    std::array<std::byte, store::kPageBytesMin> page{};
    if (::pread(descriptor, page.data(), page.size(), static_cast<off_t>(offset)) <= 0) continue;
    const auto facts = store::decode_superblock(page);
    if (!facts || made) continue;
    made = {facts->layout.made_bytes(), facts->layout.device_bytes};
  }
  ::close(descriptor);
  return made;
}

}  // namespace

bool explain_short_store(const std::string& url, const std::vector<std::string>& paths) {
  if (paths.empty()) return false;
  const auto bytes = bytes_of(paths);
  if (!bytes) return false;
  if (const auto made = read_made_with(paths[0]); made && *bytes < made->needed_bytes) {
    tell(
        "{}: the store was cut short: {} of {} bytes are there ({} of {})\n  hint: copy it "
        "again from where all of it is; nothing was written\n",
        url, *bytes, made->device_bytes, format_bytes(*bytes), format_bytes(made->device_bytes));
    return true;
  }
  if (*bytes >= smallest_store_bytes()) return false;
  tell("{}: holds no store: it has {} bytes, the smallest store has {}\n", url, *bytes,
       smallest_store_bytes());
  tell("  hint: {}\n", *bytes == 0 ? "make a store here with `store put --size`"
                                   : "name another path; nothing was written");
  return true;
}

}  // namespace forebay::cli

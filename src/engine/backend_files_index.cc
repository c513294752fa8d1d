#include "engine/backend_files_index.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

namespace forebay::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".kv";

std::optional<store::BlockId> id_of(const std::string& name) {
  store::BlockId id;
  if (name.size() != 2 * id.digest.size() + kSuffix.size() || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < id.digest.size(); ++i) {
    const char* at = name.data() + 2 * i;
    std::uint8_t value = 0;
    if (std::from_chars(at, at + 2, value, 16).ptr != at + 2) return std::nullopt;
    id.digest[i] = std::byte{value};
  }
  return id;
}

struct Found {
  store::BlockId id;
  std::uint64_t bytes;
  fs::file_time_type written;
};

}  // namespace

// Two levels of folders, so that none grows without bound.
std::string FileIndex::path_of(const store::BlockId& id) const {
  const std::string name = to_hex(id.digest);
  return directory_ + "/" + name.substr(0, 3) + "/" + name.substr(3, 2) + "/" + name +
         std::string(kSuffix);
}

Status FileIndex::scan() {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) return std::unexpected(error_from_errno(error.value(), "make the files' directory"));
  std::vector<Found> found;
  for (auto at = fs::recursive_directory_iterator(directory_, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    const std::string name = at->path().filename();
    if (const auto id = id_of(name)) {
      found.push_back({*id, at->file_size(error), at->last_write_time(error)});
    } else if (name.ends_with(".tmp")) {
      std::error_code ignored;
      fs::remove(at->path(), ignored);
    }
  }
  if (error) return std::unexpected(error_from_errno(error.value(), "read the files' directory"));
  std::ranges::sort(found, {}, &Found::written);
  for (const Found& file : found) {
    std::vector<std::string> removals;
    (void)add(file.id, file.bytes, removals);
    for (const std::string& path : removals) fs::remove(path, error);
  }
  return {};
}

void FileIndex::use(const store::BlockId& id) {
  const auto at = entries_.find(id);
  if (at != entries_.end()) by_use_.splice(by_use_.end(), by_use_, at->second);
}

bool FileIndex::add(const store::BlockId& id, std::uint64_t bytes,
                    std::vector<std::string>& removals) {
  forget(id);
  if (capacity_bytes_ > 0 && bytes > capacity_bytes_) return false;
  while (capacity_bytes_ > 0 && used_bytes_ + bytes > capacity_bytes_) {
    const store::BlockId oldest = by_use_.front().id;
    removals.push_back(path_of(oldest));
    forget(oldest);
    ++evicted_count_;
  }
  by_use_.push_back({id, bytes});
  entries_.emplace(id, std::prev(by_use_.end()));
  used_bytes_ += bytes;
  return true;
}

void FileIndex::forget(const store::BlockId& id) {
  const auto at = entries_.find(id);
  if (at == entries_.end()) return;
  used_bytes_ -= at->second->bytes;
  by_use_.erase(at->second);
  entries_.erase(at);
}

}  // namespace forebay::engine

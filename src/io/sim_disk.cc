#include "io/sim_disk.h"

#include <algorithm>
#include <cstring>

#include "core/bytes.h"

namespace forebay::io {
namespace {

// Calls `visit(page index, offset in page, offset in bytes, size)` for each page of a range.
template <class Visit>
void for_pages(std::uint64_t offset_bytes, std::size_t size, Visit visit) {
  std::size_t at = 0;
  while (at < size) {
    const std::uint64_t index = (offset_bytes + at) / kSimPageBytes;
    const std::size_t inside = (offset_bytes + at) % kSimPageBytes;
    const std::size_t count = std::min(size - at, kSimPageBytes - inside);
    visit(index, inside, at, count);
    at += count;
  }
}

}  // namespace

SimFile::Page& SimFile::page_of(Pages& pages, std::uint64_t index) const {
  auto& page = pages[index];
  if (page == nullptr) {
    page = std::make_shared<Page>();
    if (generator) generator(index * kSimPageBytes, *page);
  } else if (page.use_count() > 1) {
    page = std::make_shared<Page>(*page);
  }
  return *page;
}

void SimFile::apply(Pages& pages, std::uint64_t offset_bytes,
                    std::span<const std::byte> bytes) const {
  for_pages(offset_bytes, bytes.size(), [&](auto index, auto inside, auto at, auto count) {
    std::memcpy(page_of(pages, index).data() + inside, bytes.data() + at, count);
  });
}

void SimFile::read(std::uint64_t offset_bytes, std::span<std::byte> bytes) const {
  for_pages(offset_bytes, bytes.size(), [&](auto index, auto inside, auto at, auto count) {
    if (const auto found = cached_.find(index); found != cached_.end()) {
      std::memcpy(bytes.data() + at, found->second->data() + inside, count);
    } else if (generator) {
      generator(index * kSimPageBytes + inside, bytes.subspan(at, count));
    } else {
      std::memset(bytes.data() + at, 0, count);
    }
  });
}

void SimFile::write(std::uint64_t offset_bytes, std::span<const std::byte> bytes) {
  apply(cached_, offset_bytes, bytes);
  unflushed_.push_back({offset_bytes, {bytes.begin(), bytes.end()}});
}

void SimFile::flush() {
  for (const Unflushed& write : unflushed_) apply(durable_, write.offset_bytes, write.bytes);
  for (const Unflushed& write : unflushed_) share(write.offset_bytes, write.bytes.size());
  unflushed_.clear();
}

// They differ where an earlier write was lost (lose_unflushed()).
void SimFile::share(std::uint64_t offset_bytes, std::size_t size) {
  for_pages(offset_bytes, size, [&](auto index, auto, auto, auto) {
    auto& durable = durable_[index];
    const auto& cached = cached_[index];
    if (durable != cached && *durable == *cached) durable = cached;
  });
}

void SimFile::discard(std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  const std::vector<std::byte> zeros(kSimPageBytes);
  for (std::uint64_t at = 0; at < length_bytes; at += kSimPageBytes) {
    write(offset_bytes + at,
          std::span(zeros).first(std::min<std::uint64_t>(kSimPageBytes, length_bytes - at)));
  }
}

void SimFile::crash(Rng& rng) {
  for (const Unflushed& write : unflushed_) {
    const std::uint64_t fate = rng.below(3);
    if (fate == 0) continue;
    std::span<const std::byte> kept(write.bytes);
    if (fate == 1) {
      const std::size_t sectors = divide_up(kept.size(), kSimSectorBytes);
      kept = kept.first(std::min(kept.size(), rng.below(sectors + 1) * kSimSectorBytes));
    }
    apply(durable_, write.offset_bytes, kept);
  }
  unflushed_.clear();
  cached_ = durable_;
}

void SimFile::corrupt(std::uint64_t offset_bytes, std::byte flip) {
  for (Pages* pages : {&cached_, &durable_}) {
    page_of(*pages, offset_bytes / kSimPageBytes)[offset_bytes % kSimPageBytes] ^= flip;
  }
}

SimFile* SimDisk::find(const std::string& path) {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second.get();
}

SimFile& SimDisk::make(const std::string& path) {
  auto& file = files_[path];
  if (file == nullptr) file = std::make_unique<SimFile>();
  return *file;
}

void SimDisk::crash(Rng& rng) {
  for (auto& [path, file] : files_) {
    file->crash(rng);
    file->lock_holders = 0;
  }
}

std::uint64_t SimDisk::used_bytes() const {
  std::uint64_t used = 0;
  for (const auto& [path, file] : files_) used += file->size_bytes;
  return used;
}

}  // namespace forebay::io

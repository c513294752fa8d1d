// The disks of a simulation: files in memory with a volatile cache, as a power cut sees them.
//
// Reads see every completed write; only flushed ones are sure to survive crash(), which keeps,
// drops or tears each of the others by the seed. Sparse: a 10 TB file costs what was written. A
// SimDisk outlives the engines that use it, like a disk outlives a process. Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/rng.h"

namespace forebay::io {

inline constexpr std::size_t kSimPageBytes = 4096;
inline constexpr std::size_t kSimSectorBytes = 512;  // what a torn write is torn at

class SimFile {
 public:
  std::uint64_t size_bytes = 0;
  int lock_holders = 0;  // -1: one, exclusively
  // Contents of what was never written; zeros when null. Makes a huge prepared device cheap.
  std::function<void(std::uint64_t offset_bytes, std::span<std::byte> bytes)> generator;

  void read(std::uint64_t offset_bytes, std::span<std::byte> bytes) const;
  // Into the volatile cache; durable after the next flush().
  void write(std::uint64_t offset_bytes, std::span<const std::byte> bytes);
  void flush();
  // A flush failed: what was on its way to the medium is gone at the next power cut, and no later
  // flush brings it back (Linux's fsync). Reads go on seeing it.
  void lose_unflushed() { unflushed_.clear(); }
  void discard(std::uint64_t offset_bytes, std::uint64_t length_bytes);
  // Power is gone: each unflushed write survives whole, in part, or not at all, independently.
  void crash(Rng& rng);
  [[nodiscard]] std::size_t unflushed_writes() const { return unflushed_.size(); }
  // Changes stored bytes behind everybody's back: damage for tests.
  void corrupt(std::uint64_t offset_bytes, std::byte flip);

 private:
  using Page = std::array<std::byte, kSimPageBytes>;
  // A page that is the same in both maps is there once: whoever writes to it takes a copy first.
  using Pages = std::unordered_map<std::uint64_t, std::shared_ptr<Page>>;
  struct Unflushed {
    std::uint64_t offset_bytes;
    std::vector<std::byte> bytes;
  };
  void apply(Pages& pages, std::uint64_t offset_bytes, std::span<const std::byte> bytes) const;
  Page& page_of(Pages& pages, std::uint64_t index) const;
  void share(std::uint64_t offset_bytes, std::size_t size);

  Pages cached_;   // what reads see
  Pages durable_;  // what a power cut leaves
  std::vector<Unflushed> unflushed_;
};

class SimDisk {
 public:
  // Null when absent.
  [[nodiscard]] SimFile* find(const std::string& path);
  SimFile& make(const std::string& path);
  // Every file, and all locks are gone.
  void crash(Rng& rng);
  [[nodiscard]] std::uint64_t used_bytes() const;
  std::uint64_t capacity_bytes = ~std::uint64_t{0};

 private:
  std::map<std::string, std::unique_ptr<SimFile>> files_;
};

}  // namespace forebay::io

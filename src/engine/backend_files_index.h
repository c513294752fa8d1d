// Which blocks have a file, by last use: what bounds the directory to its budget.
//
// The file itself, not this index, answers whether a block is there (as in engines' file tiers);
// the index only says what to remove. Units: bytes on the file system, padded. Threads: one owner.
// Memory: about 150 bytes a file.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "store/key.h"

namespace forebay::engine {

class FileIndex {
 public:
  // capacity 0: no bound.
  FileIndex(std::string directory, std::uint64_t capacity_bytes)
      : directory_(std::move(directory)), capacity_bytes_(capacity_bytes) {}

  // Finds the files of an earlier run, oldest first, and removes half-written ones. kIo, kDenied.
  [[nodiscard]] Status scan();
  [[nodiscard]] std::string path_of(const store::BlockId& id) const;
  [[nodiscard]] bool contains(const store::BlockId& id) const { return entries_.contains(id); }
  void use(const store::BlockId& id);
  // Makes room for a file of `bytes` and takes it in; what must go is appended to `removals`.
  // False: it is larger than the whole budget.
  [[nodiscard]] bool add(const store::BlockId& id, std::uint64_t bytes,
                         std::vector<std::string>& removals);
  void forget(const store::BlockId& id);

  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] std::uint64_t capacity_bytes() const { return capacity_bytes_; }
  [[nodiscard]] std::size_t block_count() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t evicted_count() const { return evicted_count_; }

 private:
  struct Entry {
    store::BlockId id;
    std::uint64_t bytes;
  };
  std::string directory_;
  std::uint64_t capacity_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t evicted_count_ = 0;
  std::list<Entry> by_use_;  // least recently used first
  std::unordered_map<store::BlockId, std::list<Entry>::iterator> entries_;
};

}  // namespace forebay::engine

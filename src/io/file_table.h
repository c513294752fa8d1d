// Opened files of a real engine: descriptors, what was probed about them, and their locks.
//
// Shared by the uring and the posix engine. Threads: one owner. Blocking: every call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/engine.h"

namespace forebay::io {

class FileTable {
 public:
  ~FileTable();
  [[nodiscard]] Result<FileId> open(const std::string& path, const OpenOptions& options);
  [[nodiscard]] Status allocate(FileId file, std::uint64_t size_bytes);
  void close(FileId file);
  [[nodiscard]] Result<FileId> listen(const void* address, std::uint32_t address_bytes);
  [[nodiscard]] Result<FileId> socket(int family);
  [[nodiscard]] Result<std::uint16_t> local_port(FileId file) const;
  [[nodiscard]] std::string peer_name(FileId file) const;
  // A connection that an accept gave.
  [[nodiscard]] FileId adopt_socket(int descriptor);

  [[nodiscard]] const FileFacts& facts(FileId file) const;
  // -1 for an id that is not open.
  [[nodiscard]] int descriptor(FileId file) const;

 private:
  struct Entry {
    int descriptor = -1;
    FileFacts facts;
  };
  FileId add(Entry entry);
  std::vector<std::unique_ptr<Entry>> entries_;  // stable addresses: facts() hands out references
};

}  // namespace forebay::io

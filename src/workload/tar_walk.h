// Walks the regular files of a POSIX (ustar, GNU, pax) tar archive, in order, without seeking.
//
// Only what traces are packed in: names up to 255 bytes as the ustar header has them; links,
// devices and extended headers are passed over. Threads: one owner. Memory: one header. Errors:
// kCorrupt for a header whose checksum does not prove itself or an archive that is cut short.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "workload/byte_source.h"

namespace forebay::workload {

// Whether these first bytes of a file are a tar header.
[[nodiscard]] bool is_tar(std::string_view head);

class TarWalk {
 public:
  explicit TarWalk(std::unique_ptr<ByteSource> source);

  struct File {
    std::string name;
    std::uint64_t size_bytes = 0;
  };
  // The next regular file, with what is left of the one before passed over; false at the end.
  [[nodiscard]] Result<bool> next(File& file);
  // Bytes of the current file; 0 at its end.
  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer);

 private:
  [[nodiscard]] Result<bool> read_block(std::span<char> block);
  [[nodiscard]] Status pass_over(std::uint64_t bytes);

  std::unique_ptr<ByteSource> source_;
  std::uint64_t left_bytes_ = 0;     // of the current file
  std::uint64_t padding_bytes_ = 0;  // behind it, to the next block
};

}  // namespace forebay::workload

// Where the bytes of a trace come from: a file, standard input, memory, or any of them inside zstd
// or gzip.
//
// Ownership: a source owns what it reads from. Threads: one owner. Blocking: read() waits for the
// file. Errors: kIo when the file cannot be read on, kCorrupt for broken packing. Memory:
// fixed buffers; a zstd window of at most 2^27 bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace forebay::workload {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `buffer`, as much as there is at hand; 0 only at the end.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<char> buffer) = 0;
};

inline constexpr std::string_view kStandardInput = "-";

// kInvalid: a device, which may have no end.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::string bytes);

// A source whose next bytes can be looked at before they are read.
class PeekSource final : public ByteSource {
 public:
  explicit PeekSource(std::unique_ptr<ByteSource> inner);
  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override;
  // The next `size` bytes, or all there are when fewer. The view ends with the next call.
  [[nodiscard]] Result<std::string_view> peek(std::size_t size);

 private:
  std::unique_ptr<ByteSource> inner_;
  std::string ahead_;
  std::size_t used_ = 0;
};

// `inner` itself, or its contents when it begins as zstd or gzip does; a UTF-8 byte order mark at
// the front of them is passed over.
[[nodiscard]] Result<std::unique_ptr<PeekSource>> decompressed(std::unique_ptr<ByteSource> inner);

}  // namespace forebay::workload

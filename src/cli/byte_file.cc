#include "cli/byte_file.h"

#include <cerrno>
#include <utility>

#include "cli/standard_output.h"

namespace forebay::cli {

Result<ByteSource> ByteSource::open(const std::string& path) {
  FileHandle file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return std::unexpected(error_from_errno(errno, "open"));
  return ByteSource(std::move(file));
}

Result<std::size_t> ByteSource::read(std::span<std::byte> bytes) {
  const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file_.get());
  if (count < bytes.size() && std::ferror(file_.get()) != 0) {
    return std::unexpected(error_from_errno(errno, "read"));
  }
  return count;
}

Result<ByteSink> ByteSink::open(const std::string& path) {
  if (path == "-") return ByteSink(FileHandle(stdout), std::nullopt);
  FOREBAY_TRY(part, PartFile::open(path));
  FileHandle file(std::fopen(part.written_path().c_str(), "wb"));
  if (file == nullptr) return std::unexpected(error_from_errno(errno, "create"));
  return ByteSink(std::move(file), std::move(part));
}

Status ByteSink::failed() const {
  const int error_number = errno;
  if (is_standard_output()) output_failed(error_number);
  return std::unexpected(error_from_errno(error_number, "write"));
}

Status ByteSink::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return {};
  return failed();
}

Status ByteSink::commit() {
  if (std::fflush(file_.get()) != 0) return failed();
  return part_ ? part_->keep() : Status{};
}

}  // namespace forebay::cli

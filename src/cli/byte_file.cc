#include "cli/byte_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
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
  if (path == "-") return ByteSink(FileHandle(stdout), "", path);
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  const bool in_place =
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  std::string part_path = in_place ? "" : path + ".part";
  FileHandle file(std::fopen(in_place ? path.c_str() : part_path.c_str(), "wb"));
  if (file == nullptr) return std::unexpected(error_from_errno(errno, "create"));
  return ByteSink(std::move(file), std::move(part_path), path);
}

ByteSink::~ByteSink() {
  if (file_ == nullptr || part_path_.empty()) return;
  (void)std::remove(part_path_.c_str());
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
  if (part_path_.empty()) return {};
  if (::fsync(::fileno(file_.get())) != 0 || std::rename(part_path_.c_str(), path_.c_str()) != 0) {
    return failed();
  }
  part_path_.clear();
  return {};
}

}  // namespace forebay::cli

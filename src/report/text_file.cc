#include "report/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

namespace forebay::report {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Status write_and_close(File file, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const int write_error = errno;
  const bool closed = std::fclose(file.release()) == 0;
  if (written && closed) return {};
  return std::unexpected(error_from_errno(written ? errno : write_error, "write"));
}

// What could not be written whole is removed: the name was free before.
Status write_new(const std::string& path, std::string_view text, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) return std::unexpected(error_from_errno(errno, "create"));
  const Status written = write_and_close(std::move(file), text);
  if (!written) std::remove(path.c_str());
  return written;
}

}  // namespace

Result<std::string> read_text_up_to(const std::string& path, std::size_t bytes_max) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return std::unexpected(error_from_errno(errno, "open"));
  std::string text;
  constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  while (text.size() <= bytes_max) {
    const std::size_t at = text.size();
    const std::size_t wanted = std::min(kChunkBytes, bytes_max - at + 1);
    text.resize(at + wanted);
    const std::size_t got = std::fread(text.data() + at, 1, wanted, file.get());
    text.resize(at + got);
    if (got < wanted) break;
  }
  if (std::ferror(file.get()) != 0) return std::unexpected(error_from_errno(errno, "read"));
  return text;
}

Result<std::string> read_text(const std::string& path) {
  std::error_code error;
  // Looked at before it is opened: opening a pipe waits for its writer.
  const auto there = std::filesystem::status(path, error);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return fail(Errc::kInvalid, "open: is no regular file");
  }
  return read_text_up_to(path, std::numeric_limits<std::size_t>::max() - 1);
}

Status begin_file(const std::string& path, std::string_view text) {
  return write_new(path, text, "wbx");
}

Status append_file(const std::string& path, std::string_view text) {
  File file(std::fopen(path.c_str(), "ab"));
  if (!file) return std::unexpected(error_from_errno(errno, "open"));
  return write_and_close(std::move(file), text);
}

Status replace_file(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  FOREBAY_TRY_STATUS(write_new(beside, text, "wb"));
  if (std::rename(beside.c_str(), path.c_str()) == 0) return {};
  const int rename_error = errno;
  std::remove(beside.c_str());
  return std::unexpected(error_from_errno(rename_error, "rename"));
}

}  // namespace forebay::report

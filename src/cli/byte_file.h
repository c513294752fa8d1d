// A file, or standard input or output for `-`, as a stream of bytes of a command.
//
// An output file gets its name when all of it is written, so that nobody finds half of one; what is
// no regular file (a pipe, a device) is written as it is. Blocking. Errors: the system's, with
// errno.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "core/error.h"

namespace forebay::cli {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin && file != stdout) std::fclose(file);
  }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

class ByteSource {
 public:
  [[nodiscard]] static Result<ByteSource> open(const std::string& path);
  // Fills `bytes`; fewer at the end of the file only.
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> bytes);

 private:
  explicit ByteSource(FileHandle file) : file_(std::move(file)) {}
  FileHandle file_;
};

class ByteSink {
 public:
  [[nodiscard]] static Result<ByteSink> open(const std::string& path);
  ByteSink(ByteSink&&) = default;
  ByteSink& operator=(ByteSink&&) = delete;
  // Without commit() the file is removed.
  ~ByteSink();
  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  // Durable, and under its name.
  [[nodiscard]] Status commit();
  [[nodiscard]] bool is_standard_output() const { return file_.get() == stdout; }

 private:
  [[nodiscard]] Status failed() const;  // errno's
  ByteSink(FileHandle file, std::string part_path, std::string path)
      : file_(std::move(file)), part_path_(std::move(part_path)), path_(std::move(path)) {}
  FileHandle file_;
  std::string part_path_;  // empty: written in place
  std::string path_;
};

}  // namespace forebay::cli

// A file, or standard input or output for `-`, as a stream of bytes of a command.
//
// An output file gets its name when all of it is written (part_file.h). Blocking. Errors: the
// system's, with errno, and those of PartFile.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/part_file.h"
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
  // Without commit() nothing is left of a file.
  [[nodiscard]] static Result<ByteSink> open(const std::string& path);
  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  // Durable, and under its name.
  [[nodiscard]] Status commit();
  [[nodiscard]] bool is_standard_output() const { return file_.get() == stdout; }

 private:
  [[nodiscard]] Status failed() const;  // errno's
  ByteSink(FileHandle file, std::optional<PartFile> part)
      : part_(std::move(part)), file_(std::move(file)) {}
  std::optional<PartFile> part_;  // nullopt: standard output
  FileHandle file_;
};

}  // namespace forebay::cli

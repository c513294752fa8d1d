#include "workload/writer.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "workload/formats.h"

namespace forebay::workload {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::FILE* file) : file_(file) {}
  Status write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      return std::unexpected(error_from_errno(errno, "write trace"));
    }
    return {};
  }
  Status close() override {
    // fclose reports what the last flush found, a full disk for one.
    if (std::fclose(file_.release()) != 0) {
      return std::unexpected(error_from_errno(errno, "close trace"));
    }
    return {};
  }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
};

class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::string* target) : target_(target) {}
  Status write(std::string_view bytes) override {
    target_->append(bytes);
    return {};
  }
  Status close() override { return {}; }

 private:
  std::string* target_;
};

}  // namespace

Result<std::unique_ptr<ByteSink>> create_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return std::unexpected(error_from_errno(errno, "create trace"));
  return std::make_unique<FileSink>(file);
}

std::unique_ptr<ByteSink> memory_sink(std::string* target) {
  return std::make_unique<MemorySink>(target);
}

std::vector<std::string_view> writable_trace_format_names() {
  std::vector<std::string_view> names;
  for (const TraceFormat* format : all_trace_formats()) {
    if (format->create != nullptr) names.push_back(format->name);
  }
  return names;
}

Result<std::unique_ptr<TraceWriter>> create_trace(const std::string& path, std::string_view format,
                                                  const WriteOptions& options,
                                                  Diagnostics& diagnostics) {
  const TraceFormat* found = find_trace_format(format);
  if (found == nullptr || found->create == nullptr) {
    diagnostics.add(path, fmt::format("`{}` cannot be written", format),
                    suggest(format, writable_trace_format_names()));
    return fail(Errc::kInvalid, "choose a format to write");
  }
  auto sink = create_file(options.written_path.empty() ? path : options.written_path);
  if (!sink) {
    diagnostics.add(path, to_string(sink.error()),
                    "does the folder exist, and may you write there?");
    return std::unexpected(sink.error());
  }
  return found->create(std::move(*sink), options);
}

}  // namespace forebay::workload

#include "workload/writer.h"

#include <fmt/core.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/check.h"
#include "workload/formats.h"

namespace forebay::workload {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
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
    // Both report what the last flush found, a full disk for one.
    std::FILE* file = file_.release();
    if ((file == stdout ? std::fflush(file) : std::fclose(file)) != 0) {
      return std::unexpected(error_from_errno(errno, "close trace"));
    }
    return {};
  }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
};

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

class ZstdSink final : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> inner)
      : inner_(std::move(inner)), context_(ZSTD_createCCtx()), packed_(ZSTD_CStreamOutSize()) {
    FOREBAY_CHECK(context_ != nullptr);
  }
  Status write(std::string_view bytes) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (in.pos < in.size) {
      FOREBAY_TRY(left, pack(in, ZSTD_e_continue));
      (void)left;
    }
    return {};
  }
  Status close() override {
    ZSTD_inBuffer nothing{nullptr, 0, 0};
    while (true) {
      FOREBAY_TRY(left, pack(nothing, ZSTD_e_end));
      if (left == 0) return inner_->close();
    }
  }

 private:
  // What is still inside after it.
  Result<std::size_t> pack(ZSTD_inBuffer& in, ZSTD_EndDirective end) {
    ZSTD_outBuffer out{packed_.data(), packed_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, end);
    if (ZSTD_isError(left) != 0) return fail(Errc::kIo, "compress trace with zstd");
    FOREBAY_TRY_STATUS(inner_->write({packed_.data(), out.pos}));
    return left;
  }

  std::unique_ptr<ByteSink> inner_;
  std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
  std::vector<char> packed_;
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
  std::FILE* file = path == kStandardOutput ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return std::unexpected(error_from_errno(errno, "create trace"));
  return std::make_unique<FileSink>(file);
}

std::unique_ptr<ByteSink> zstd_sink(std::unique_ptr<ByteSink> inner) {
  return std::make_unique<ZstdSink>(std::move(inner));
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
  for (const std::string_view ending : {".gz", ".xz", ".bz2", ".zip"}) {
    if (!path.ends_with(ending)) continue;
    diagnostics.add(path, fmt::format("a trace is not written as {}", ending),
                    "name it .zst, which is packed, or leave the ending out");
    return fail(Errc::kInvalid, "choose how to pack");
  }
  auto sink = create_file(options.written_path.empty() ? path : options.written_path);
  if (!sink) {
    diagnostics.add(path, to_string(sink.error()),
                    "does the folder exist, and may you write there?");
    return std::unexpected(sink.error());
  }
  // The name says how it is packed; what is written to is named otherwise until it is whole.
  if (path.ends_with(".zst")) *sink = zstd_sink(std::move(*sink));
  return found->create(std::move(*sink), options);
}

}  // namespace forebay::workload

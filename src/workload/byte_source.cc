#include "workload/byte_source.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/check.h"
#include "workload/gzip_source.h"

namespace forebay::workload {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
// The public agentic archives are packed with --long=27.
constexpr int kZstdWindowLogMax = 27;
constexpr std::size_t kPeekStepBytes = std::size_t{16} << 10;

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::FILE* file) : file_(file) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file_.get());
    if (got == 0 && std::ferror(file_.get()) != 0) {
      return std::unexpected(error_from_errno(errno, "read trace"));
    }
    return got;
  }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t got = bytes_.copy(buffer.data(), buffer.size(), at_);
    at_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> inner)
      : inner_(std::move(inner)), context_(ZSTD_createDCtx()), packed_(ZSTD_DStreamInSize()) {
    FOREBAY_CHECK(context_ != nullptr);
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        FOREBAY_TRY(got, inner_->read(packed_));
        if (got == 0 && mid_frame_) return fail(Errc::kCorrupt, "zstd frame is cut short");
        if (got == 0) return std::size_t{0};
        in_ = {packed_.data(), got, 0};
      }
      const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(left) != 0) return fail(Errc::kCorrupt, "decompress zstd frame");
      mid_frame_ = left != 0;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::vector<char> packed_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool mid_frame_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  std::error_code error;
  const auto there = std::filesystem::status(path, error);
  if (std::filesystem::is_character_file(there) || std::filesystem::is_block_file(there)) {
    return fail(Errc::kInvalid, "open trace: is a device, not a file");
  }
  std::FILE* file = path == kStandardInput ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::unexpected(error_from_errno(errno, "open trace"));
  return std::make_unique<FileSource>(file);
}

std::unique_ptr<ByteSource> memory_source(std::string bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

PeekSource::PeekSource(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)) {}

Result<std::size_t> PeekSource::read(std::span<char> buffer) {
  if (used_ == ahead_.size()) return inner_->read(buffer);
  const std::size_t got = ahead_.copy(buffer.data(), buffer.size(), used_);
  used_ += got;
  return got;
}

Result<std::string_view> PeekSource::peek(std::size_t size) {
  ahead_.erase(0, used_);
  used_ = 0;
  while (ahead_.size() < size) {
    const std::size_t have = ahead_.size();
    ahead_.resize(std::min(size, have + kPeekStepBytes));
    auto got = inner_->read(std::span(ahead_).subspan(have));
    ahead_.resize(have + got.value_or(0));
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
  }
  return std::string_view(ahead_).substr(0, size);
}

Result<std::unique_ptr<PeekSource>> decompressed(std::unique_ptr<ByteSource> inner) {
  auto source = std::make_unique<PeekSource>(std::move(inner));
  FOREBAY_TRY(head, source->peek(kZstdMagic.size()));
  if (head == kZstdMagic) {
    source = std::make_unique<PeekSource>(std::make_unique<ZstdSource>(std::move(source)));
  } else if (head.starts_with(kGzipMagic)) {
    source = std::make_unique<PeekSource>(gzip_source(std::move(source)));
  }
  // Broken contents are told by whoever reads them on.
  const auto text = source->peek(kByteOrderMark.size());
  std::array<char, kByteOrderMark.size()> passed{};
  if (text && *text == kByteOrderMark) FOREBAY_TRY_STATUS(source->read(passed));
  return source;
}

}  // namespace forebay::workload

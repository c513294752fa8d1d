#include "workload/documents.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "workload/line_reader.h"
#include "workload/tar_walk.h"

namespace forebay::workload {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

using ReadBytes = std::function<Result<std::size_t>(std::span<char>)>;

// Grows to the largest document and stays there.
class DocumentBuffer {
 public:
  explicit DocumentBuffer(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // All that `read` gives, or kNoSpace as soon as it is more than allowed.
  Result<std::string_view> fill(const ReadBytes& read) {
    std::size_t size = 0;
    while (true) {
      const std::size_t need = size + kReadBytes + LineReader::kPaddingBytes;
      if (buffer_.size() < need) buffer_.resize(std::max(need, buffer_.size() * 2));
      FOREBAY_TRY(got, read(std::span(buffer_).subspan(size, kReadBytes)));
      if (got == 0) return std::string_view(buffer_.data(), size);
      size += got;
      if (size > bytes_max_) return fail(Errc::kNoSpace, "read document");
    }
  }

 private:
  std::uint64_t bytes_max_;
  std::string buffer_;
};

// What the three kinds share: the buffer, and saying that a document is left out.
class DocumentsBase : public Documents {
 public:
  DocumentsBase(std::uint64_t bytes_max, Diagnostics& diagnostics)
      : buffer_(bytes_max), bytes_max_(bytes_max), diagnostics_(diagnostics) {}
  std::uint64_t skipped_count() const override { return skipped_count_; }

 protected:
  // True: `document` is filled. False: it was too large, which is noted.
  Result<bool> fill(Document& document, const ReadBytes& read) {
    auto text = buffer_.fill(read);
    if (text) {
      document.text = *text;
      return true;
    }
    if (text.error().code != Errc::kNoSpace) return std::unexpected(text.error());
    skip(document.place, fmt::format("the session is larger than {} bytes", bytes_max_));
    return false;
  }
  void skip(const std::string& place, std::string message) {
    ++skipped_count_;
    diagnostics_.add(place, std::move(message));
  }

 private:
  DocumentBuffer buffer_;
  std::uint64_t bytes_max_;
  Diagnostics& diagnostics_;
  std::uint64_t skipped_count_ = 0;
};

class TarDocuments final : public DocumentsBase {
 public:
  TarDocuments(DocumentsInput input, Diagnostics& diagnostics)
      : DocumentsBase(input.document_bytes_max, diagnostics),
        path_(std::move(input.path)),
        walk_(std::move(input.bytes)) {}

  Result<bool> next(Document& document) override {
    TarWalk::File file;
    while (true) {
      FOREBAY_TRY(more, walk_.next(file));
      if (!more) return false;
      if (!file.name.ends_with(".json")) continue;
      document.place = fmt::format("{}/{}", path_, file.name);
      document.file_name = file.name.substr(file.name.rfind('/') + 1);
      FOREBAY_TRY(filled, fill(document, [this](std::span<char> b) { return walk_.read(b); }));
      if (filled) return true;
    }
  }

 private:
  std::string path_;
  TarWalk walk_;
};

class FolderDocuments final : public DocumentsBase {
 public:
  FolderDocuments(std::vector<std::string> paths, std::uint64_t bytes_max, Diagnostics& diagnostics)
      : DocumentsBase(bytes_max, diagnostics), paths_(std::move(paths)) {}

  Result<bool> next(Document& document) override {
    while (at_ < paths_.size()) {
      document.place = paths_[at_++];
      document.file_name = std::filesystem::path(document.place).filename();
      auto file = open_file(document.place);
      if (!file) {
        skip(document.place, to_string(file.error()));
        continue;
      }
      FOREBAY_TRY(source, decompressed(std::move(*file)));
      FOREBAY_TRY(filled, fill(document, [&](std::span<char> b) { return source->read(b); }));
      if (filled) return true;
    }
    return false;
  }

 private:
  std::vector<std::string> paths_;
  std::size_t at_ = 0;
};

class SingleDocument final : public DocumentsBase {
 public:
  SingleDocument(DocumentsInput input, Diagnostics& diagnostics)
      : DocumentsBase(input.document_bytes_max, diagnostics), input_(std::move(input)) {}

  Result<bool> next(Document& document) override {
    if (std::exchange(done_, true)) return false;
    document.place = input_.path;
    document.file_name = std::filesystem::path(input_.path).filename();
    return fill(document, [this](std::span<char> b) { return input_.bytes->read(b); });
  }

 private:
  DocumentsInput input_;
  bool done_ = false;
};

bool is_json(const std::filesystem::directory_entry& entry) {
  std::error_code ignored;
  const std::string name = entry.path().filename();
  return entry.is_regular_file(ignored) &&
         (name.ends_with(".json") || name.ends_with(".json.zst") || name.ends_with(".json.gz"));
}

}  // namespace

Result<std::unique_ptr<Documents>> open_documents(DocumentsInput input, Diagnostics& diagnostics) {
  if (input.bytes != nullptr) {
    FOREBAY_TRY(head, input.bytes->peek(512));
    if (is_tar(head)) return std::make_unique<TarDocuments>(std::move(input), diagnostics);
    return std::make_unique<SingleDocument>(std::move(input), diagnostics);
  }
  std::error_code failed;
  std::vector<std::string> paths;
  std::filesystem::directory_iterator folder(input.path, failed);
  while (!failed && folder != std::filesystem::directory_iterator()) {
    if (is_json(*folder)) paths.push_back(folder->path());
    folder.increment(failed);
  }
  if (failed) return std::unexpected(error_from_errno(failed.value(), "read trace folder"));
  std::ranges::sort(paths);
  return std::make_unique<FolderDocuments>(std::move(paths), input.document_bytes_max, diagnostics);
}

}  // namespace forebay::workload

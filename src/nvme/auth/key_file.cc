#include "nvme/auth/key_file.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "nvme/auth/key_line.h"

namespace forebay::nvme::auth {
namespace {

struct Closed {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

}  // namespace

Result<SecretBytes> read_key_file(const std::string& path) {
  const std::unique_ptr<std::FILE, Closed> file(std::fopen(path.c_str(), "re"));
  if (file == nullptr) return std::unexpected(error_from_errno(errno, "the key file"));
  struct stat facts{};
  if (fstat(fileno(file.get()), &facts) != 0) {
    return std::unexpected(error_from_errno(errno, "the key file"));
  }
  if ((facts.st_mode & kOthers) != 0) {
    return fail(Errc::kDenied, "the key file may be read by others than its owner");
  }
  // No second copy in the library's buffer.
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  std::array<char, kKeyLineMax + 1> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), file.get());
  Result<SecretBytes> line = fail(Errc::kInvalid, "it is longer than any key");
  if (std::ferror(file.get()) != 0) {
    line = fail(Errc::kIo, "the key file cannot be read");
  } else if (size <= kKeyLineMax) {
    line = SecretBytes(std::as_bytes(std::span(text).first(size)));
  }
  OPENSSL_cleanse(text.data(), text.size());
  return line;
}

std::string_view text_of(const SecretBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.size()};
}

std::string_view key_file_hint(const Error& error) {
  if (error.code == Errc::kNotFound) return "make one: forebay key generate --output FILE";
  if (error.code == Errc::kDenied && error.os == 0) {
    return "chmod 600 it: whoever reads it can claim to be that party";
  }
  if (error.code == Errc::kInvalid || error.code == Errc::kCorrupt) return {};
  return "this user must be able to read it";
}

}  // namespace forebay::nvme::auth

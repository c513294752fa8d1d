#include "workload/tar_walk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/bytes.h"

namespace forebay::workload {
namespace {

constexpr std::size_t kBlockBytes = 512;

// POSIX.1-1988 ustar header: offset and length of the fields used here.
struct Field {
  std::size_t offset;
  std::size_t length;
};
constexpr Field kName{0, 100};
constexpr Field kSize{124, 12};
constexpr Field kChecksum{148, 8};
constexpr std::size_t kTypeOffset = 156;
constexpr Field kMagic{257, 5};
constexpr Field kPrefix{345, 155};

std::string_view field_text(std::string_view header, Field field) {
  const std::string_view text = header.substr(field.offset, field.length);
  return text.substr(0, text.find('\0'));
}

// Octal digits, or (GNU) the top bit set and 63 bits big-endian.
std::optional<std::uint64_t> field_number(std::string_view header, Field field) {
  std::string_view text = header.substr(field.offset, field.length);
  std::uint64_t value = 0;
  if ((text[0] & '\x80') != 0) {
    for (const char c : text.substr(text.size() - 8)) {
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value < std::uint64_t{1} << 62 ? std::optional(value) : std::nullopt;
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  for (const char c : text) {
    if (c == ' ' || c == '\0') break;
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool proves_itself(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    // The checksum counts itself as blanks.
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.length;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return field_number(header, kChecksum) == sum;
}

}  // namespace

bool is_tar(std::string_view head) {
  return head.size() >= kBlockBytes && field_text(head, kMagic).starts_with("ustar") &&
         proves_itself(head.substr(0, kBlockBytes));
}

TarWalk::TarWalk(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

// False when the archive ends before the first byte of the block.
Result<bool> TarWalk::read_block(std::span<char> block) {
  std::size_t have = 0;
  while (have < block.size()) {
    FOREBAY_TRY(got, source_->read(block.subspan(have)));
    if (got == 0 && have == 0) return false;
    if (got == 0) return fail(Errc::kCorrupt, "tar archive is cut short");
    have += got;
  }
  return true;
}

Status TarWalk::pass_over(std::uint64_t bytes) {
  std::array<char, 16384> waste{};
  while (bytes > 0) {
    const std::size_t want = std::min<std::uint64_t>(bytes, waste.size());
    FOREBAY_TRY(got, source_->read(std::span(waste).first(want)));
    if (got == 0) return fail(Errc::kCorrupt, "tar archive is cut short");
    bytes -= got;
  }
  return {};
}

Result<bool> TarWalk::next(File& file) {
  std::array<char, kBlockBytes> block{};
  while (true) {
    FOREBAY_TRY_STATUS(pass_over(left_bytes_ + padding_bytes_));
    left_bytes_ = 0;
    padding_bytes_ = 0;
    FOREBAY_TRY(more, read_block(block));
    const std::string_view header(block.data(), block.size());
    // An archive ends in blocks of zeros; some end without.
    if (!more || header.find_first_not_of('\0') == std::string_view::npos) return false;
    const auto size_bytes = field_number(header, kSize);
    if (!proves_itself(header) || !size_bytes || *size_bytes >= std::uint64_t{1} << 62) {
      return fail(Errc::kCorrupt, "tar header does not prove itself");
    }
    left_bytes_ = *size_bytes;
    padding_bytes_ = round_up(left_bytes_, kBlockBytes) - left_bytes_;
    const char type = header[kTypeOffset];
    if (type != '0' && type != '\0') continue;
    const std::string_view prefix = field_text(header, kPrefix);
    file.name = std::string(prefix) + (prefix.empty() ? "" : "/");
    file.name += field_text(header, kName);
    file.size_bytes = left_bytes_;
    return true;
  }
}

Result<std::size_t> TarWalk::read(std::span<char> buffer) {
  const std::size_t want = std::min<std::uint64_t>(left_bytes_, buffer.size());
  if (want == 0) return std::size_t{0};
  FOREBAY_TRY(got, source_->read(buffer.first(want)));
  if (got == 0) return fail(Errc::kCorrupt, "tar archive is cut short");
  left_bytes_ -= got;
  return got;
}

}  // namespace forebay::workload

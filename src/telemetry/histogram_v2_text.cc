// The outer wrapping of a V2 histogram: zlib by isa-l, base64 by OpenSSL.
#include <isa-l/igzip_lib.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "core/bytes.h"
#include "core/check.h"
#include "telemetry/histogram_v2.h"

namespace forebay::telemetry {
namespace {

constexpr std::array<unsigned char, 4> kOuterCookie{0x1c, 0x84, 0x93, 0x14};
constexpr std::size_t kOuterBytes = 8;
// Stored blocks of deflate add 5 bytes for every 64 KiB; zlib's head and tail, and some to spare.
constexpr std::size_t kZlibSpareBytes = 1024;
// Base64 of incompressible content.
constexpr std::size_t kTextBytesMax = (kV2PayloadBytesMax + 2 * kZlibSpareBytes) / 3 * 4;

using Bytes = std::vector<unsigned char>;

void deflate_behind(Bytes& out, std::span<const std::byte> payload) {
  const std::size_t before = out.size();
  out.resize(before + payload.size() + payload.size() / 64 + kZlibSpareBytes);
  auto stream = std::make_unique<isal_zstream>();
  isal_deflate_stateless_init(stream.get());
  // isa-l does not write its input.
  stream->next_in = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(payload.data()));
  stream->avail_in = static_cast<std::uint32_t>(payload.size());
  stream->next_out = out.data() + before;
  stream->avail_out = static_cast<std::uint32_t>(out.size() - before);
  stream->gzip_flag = IGZIP_ZLIB;
  stream->end_of_stream = 1;
  FOREBAY_CHECK(isal_deflate_stateless(stream.get()) == COMP_OK);
  out.resize(before + stream->total_out);
}

Result<Bytes> from_base64(std::string_view text) {
  if (text.size() < 4 || text.size() % 4 != 0 || text.size() > kTextBytesMax) {
    return fail(Errc::kCorrupt, "histogram: size of the text");
  }
  Bytes bytes(text.size() / 4 * 3);
  const int count =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  if (count < 0 || static_cast<std::size_t>(count) < padding) {
    return fail(Errc::kCorrupt, "histogram: not base64");
  }
  bytes.resize(static_cast<std::size_t>(count) - padding);
  return bytes;
}

}  // namespace

std::string wrap_v2(std::span<const std::byte> payload) {
  Bytes bytes(kOuterBytes);
  deflate_behind(bytes, payload);
  std::copy(kOuterCookie.begin(), kOuterCookie.end(), bytes.begin());
  const std::size_t length = bytes.size() - kOuterBytes;
  for (unsigned i = 0; i < 4; ++i) {
    bytes[4 + i] = static_cast<unsigned char>(length >> (8 * (3 - i)));
  }
  std::string text(divide_up(bytes.size(), 3) * 4 + 1, '\0');  // OpenSSL ends it with a zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

Result<std::vector<std::byte>> unwrap_v2(std::string_view text) {
  FOREBAY_TRY(bytes, from_base64(text));
  if (bytes.size() < kOuterBytes) return fail(Errc::kCorrupt, "histogram: the text is too short");
  if (!std::equal(kOuterCookie.begin(), kOuterCookie.end(), bytes.begin())) {
    return fail(Errc::kVersion, "histogram: not a compressed V2 encoding");
  }
  std::size_t length = 0;
  for (unsigned i = 4; i < kOuterBytes; ++i) length = length << 8 | bytes[i];
  if (length != bytes.size() - kOuterBytes) {
    return fail(Errc::kCorrupt, "histogram: length of the compressed part");
  }
  std::vector<std::byte> payload(kV2PayloadBytesMax);
  auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_ZLIB;
  state->next_in = bytes.data() + kOuterBytes;
  state->avail_in = static_cast<std::uint32_t>(length);
  state->next_out = reinterpret_cast<unsigned char*>(payload.data());
  state->avail_out = static_cast<std::uint32_t>(payload.size());
  const int outcome = isal_inflate(state.get());
  if (outcome != ISAL_DECOMP_OK || state->block_state != ISAL_BLOCK_FINISH) {
    return fail(Errc::kCorrupt, "histogram: not zlib, or larger than a histogram can be");
  }
  payload.resize(state->total_out);
  return payload;
}

}  // namespace forebay::telemetry

#include "workload/gzip_source.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace forebay::workload {
namespace {

constexpr std::size_t kPackedBytes = std::size_t{64} << 10;

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : inner_(std::move(packed)),
        state_(std::make_unique<inflate_state>()),
        packed_(kPackedBytes) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    if (buffer.empty()) return std::size_t{0};
    state_->next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
    state_->avail_out = static_cast<std::uint32_t>(std::min(buffer.size(), kPackedBytes));
    const std::uint32_t room = state_->avail_out;
    while (state_->avail_out == room) {
      const bool between = state_->block_state == ISAL_BLOCK_FINISH;
      FOREBAY_TRY(more, fill());
      if (!more && between) return std::size_t{0};
      if (between) FOREBAY_TRY_STATUS(begin_member());
      const std::uint32_t before = state_->avail_in;
      if (isal_inflate(state_.get()) != ISAL_DECOMP_OK) {
        return fail(Errc::kCorrupt, "decompress gzip member");
      }
      const bool stuck = state_->avail_out == room && state_->avail_in == before;
      if (!more && stuck && state_->block_state != ISAL_BLOCK_FINISH) {
        return fail(Errc::kCorrupt, "gzip member is cut short");
      }
    }
    return std::size_t{room - state_->avail_out};
  }

 private:
  // False at the end of what is packed.
  Result<bool> fill() {
    if (state_->avail_in > 0) return true;
    FOREBAY_TRY(got, inner_->read(packed_));
    state_->next_in = reinterpret_cast<std::uint8_t*>(packed_.data());
    state_->avail_in = static_cast<std::uint32_t>(got);
    return got > 0;
  }

  // The second byte of the magic may come with the next read; the inflater looks at it.
  Status begin_member() {
    if (state_->next_in[0] != static_cast<std::uint8_t>(kGzipMagic[0])) {
      return fail(Errc::kCorrupt, "other bytes behind a gzip member");
    }
    isal_inflate_reset(state_.get());
    return {};
  }

  std::unique_ptr<ByteSource> inner_;
  std::unique_ptr<inflate_state> state_;
  std::vector<char> packed_;
};

}  // namespace

std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<GzipSource>(std::move(packed));
}

}  // namespace forebay::workload

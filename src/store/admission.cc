#include "store/admission.h"

#include <algorithm>
#include <bit>

#include "core/rng.h"

namespace forebay::store {
namespace {

constexpr unsigned kCounterMax = 15;
// A sketch forgets by half after this many records per counter of a row, so that "seen before"
// means "within about this many times its size".
constexpr std::uint64_t kAgeAfter = 8;

class AdmitAll final : public Admission {
 public:
  void see(const BlockId&) override {}
  [[nodiscard]] bool admits(const BlockId&) const override { return true; }
  [[nodiscard]] std::uint64_t memory_bytes() const override { return 0; }
};

class AdmitReused final : public Admission {
 public:
  explicit AdmitReused(std::size_t block_count_expected) : sketch_(block_count_expected) {}
  void see(const BlockId& id) override { sketch_.record(id.word()); }
  [[nodiscard]] bool admits(const BlockId& id) const override {
    return sketch_.estimate(id.word()) >= 2;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override { return sketch_.memory_bytes(); }

 private:
  FrequencySketch sketch_;
};

}  // namespace

FrequencySketch::FrequencySketch(std::size_t block_count_expected) {
  const std::size_t row =
      std::bit_ceil(std::clamp<std::size_t>(block_count_expected, 1024, std::size_t{1} << 26));
  cells_.resize(kRows * row / 2);
  mask_ = row - 1;
  recorded_max_ = kAgeAfter * row;
}

std::size_t FrequencySketch::cell(std::uint64_t word, unsigned row) const {
  return row * (mask_ + 1) + (mix64(word + row) & mask_);
}

void FrequencySketch::record(std::uint64_t word) {
  const unsigned before = estimate(word);
  if (before < kCounterMax) {
    for (unsigned row = 0; row < kRows; ++row) {
      const std::size_t at = cell(word, row);
      std::uint8_t& both = cells_[at / 2];
      const unsigned shift = at % 2 * 4;
      // Conservative update: only the counters at the minimum can be true.
      if (((both >> shift) & kCounterMax) == before) {
        both = static_cast<std::uint8_t>(both + (1U << shift));
      }
    }
  }
  if (++recorded_ >= recorded_max_) age();
}

unsigned FrequencySketch::estimate(std::uint64_t word) const {
  unsigned least = kCounterMax;
  for (unsigned row = 0; row < kRows; ++row) {
    const std::size_t at = cell(word, row);
    least = std::min(least, (unsigned{cells_[at / 2]} >> (at % 2 * 4)) & kCounterMax);
  }
  return least;
}

void FrequencySketch::age() {
  for (std::uint8_t& both : cells_) both = (both >> 1) & 0x77;
  recorded_ = 0;
}

Result<std::unique_ptr<Admission>> make_admission(std::string_view name,
                                                  std::size_t block_count_expected) {
  if (name == "all") return std::make_unique<AdmitAll>();
  if (name == "reuse") return std::make_unique<AdmitReused>(block_count_expected);
  return fail(Errc::kInvalid, "admission filter is neither all nor reuse");
}

}  // namespace forebay::store

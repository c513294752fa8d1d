#include "telemetry/histogram_v2.h"

#include <bit>
#include <utility>

#include "telemetry/histogram.h"
#include "telemetry/histogram_cells.h"

namespace forebay::telemetry {
namespace {

constexpr std::uint32_t kCookie = 0x1c849313;
constexpr std::uint32_t kDigits = 3;
constexpr std::uint64_t kRatioOne = 0x3ff0000000000000;  // 1.0 as a double
constexpr std::size_t kHeaderBytes = 40;
// HdrHistogram's values are signed: the cell of 2^63 - 1 is its last.
constexpr std::size_t kCellsMax = cells::index_of(~std::uint64_t{0} >> 1) + 1;

template <class T>
void put_big_endian(std::vector<std::byte>& out, T value) {
  for (std::size_t i = sizeof value; i-- > 0;) {
    out.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

template <class T>
T get_big_endian(std::span<const std::byte> bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value = static_cast<T>((value << 8) | std::to_integer<T>(bytes[i]));
  }
  return value;
}

void put_zig_zag(std::vector<std::byte>& out, std::int64_t value) {
  auto word = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (unsigned i = 0; i < 8; ++i) {
    if (word < 0x80) {
      out.push_back(static_cast<std::byte>(word));
      return;
    }
    out.push_back(static_cast<std::byte>(word | 0x80));
    word >>= 7;
  }
  out.push_back(static_cast<std::byte>(word));  // the ninth byte carries eight bits
}

// Takes a number off the front of `bytes`.
Result<std::int64_t> take_zig_zag(std::span<const std::byte>& bytes) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 9; ++i) {
    if (bytes.empty()) return fail(Errc::kCorrupt, "histogram: a count is torn");
    const auto byte = std::to_integer<std::uint64_t>(bytes.front());
    bytes = bytes.subspan(1);
    const bool last = i == 8 || (byte & 0x80) == 0;
    word |= (i == 8 ? byte : byte & 0x7f) << (7 * i);
    if (last) break;
  }
  return static_cast<std::int64_t>(word >> 1) ^ -static_cast<std::int64_t>(word & 1);
}

// The counts as HdrHistogram can hold them: values above 2^63 - 1 fall into its last cell.
std::vector<std::uint64_t> within_range(std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> kept(counts.begin(), counts.end());
  for (std::size_t i = kCellsMax; i < kept.size(); ++i) kept[kCellsMax - 1] += kept[i];
  if (kept.size() > kCellsMax) kept.resize(kCellsMax);
  while (!kept.empty() && kept.back() == 0) kept.pop_back();
  return kept;
}

// The largest value of the smallest table that has these cells.
std::uint64_t highest_for(std::size_t cell_count) {
  const std::uint64_t most = cell_count == 0 ? 0 : cells::lowest_of(cell_count - 1);
  return most < cells::kSubBuckets ? cells::kSubBuckets - 1
                                   : ~std::uint64_t{0} >> std::countl_zero(most);
}

Status check_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) return fail(Errc::kCorrupt, "histogram: the header is torn");
  if (get_big_endian<std::uint32_t>(bytes) != kCookie) {
    return fail(Errc::kVersion, "histogram: not a V2 encoding");
  }
  if (get_big_endian<std::uint32_t>(bytes.subspan(4)) != bytes.size() - kHeaderBytes) {
    return fail(Errc::kCorrupt, "histogram: length of the counts");
  }
  if (get_big_endian<std::uint32_t>(bytes.subspan(8)) != 0 ||
      get_big_endian<std::uint32_t>(bytes.subspan(12)) != kDigits ||
      get_big_endian<std::uint64_t>(bytes.subspan(16)) != 1 ||
      get_big_endian<std::uint64_t>(bytes.subspan(32)) != kRatioOne) {
    return fail(Errc::kUnsupported, "histogram: another precision, unit or scale");
  }
  return {};
}

}  // namespace

std::vector<std::byte> encode_v2_payload(std::span<const std::uint64_t> counts) {
  const std::vector<std::uint64_t> kept = within_range(counts);
  std::vector<std::byte> body;
  for (std::size_t i = 0; i < kept.size();) {
    if (kept[i] != 0) {
      put_zig_zag(body, static_cast<std::int64_t>(kept[i++]));
      continue;
    }
    std::int64_t zeros = 0;
    while (kept[i] == 0) ++i, ++zeros;  // the last count is none
    put_zig_zag(body, -zeros);
  }
  std::vector<std::byte> out;
  put_big_endian(out, kCookie);
  put_big_endian(out, static_cast<std::uint32_t>(body.size()));
  put_big_endian(out, std::uint32_t{0});
  put_big_endian(out, kDigits);
  put_big_endian(out, std::uint64_t{1});
  put_big_endian(out, highest_for(kept.size()));
  put_big_endian(out, kRatioOne);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

Result<std::vector<std::uint64_t>> decode_v2_payload(std::span<const std::byte> bytes) {
  FOREBAY_TRY_STATUS(check_header(bytes));
  std::vector<std::uint64_t> counts;
  std::uint64_t total = 0;
  for (auto rest = bytes.subspan(kHeaderBytes); !rest.empty();) {
    FOREBAY_TRY(number, take_zig_zag(rest));
    const std::uint64_t cells = number < 0 ? 0 - static_cast<std::uint64_t>(number) : 1;
    if (cells > kCellsMax - counts.size()) {
      return fail(Errc::kCorrupt, "histogram: more counts than values");
    }
    const std::uint64_t count = number < 0 ? 0 : static_cast<std::uint64_t>(number);
    if (__builtin_add_overflow(total, count, &total)) {
      return fail(Errc::kCorrupt, "histogram: the counts overflow");
    }
    counts.resize(counts.size() + cells);
    counts.back() = count;
  }
  return counts;
}

std::string Histogram::encode_v2() const { return wrap_v2(encode_v2_payload(counts_)); }

Result<Histogram> Histogram::decode_v2(const std::string& text) {
  FOREBAY_TRY(payload, unwrap_v2(text));
  FOREBAY_TRY(counts, decode_v2_payload(payload));
  Histogram histogram;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::uint64_t lowest = cells::lowest_of(i);
    const std::uint64_t middle = lowest + (cells::highest_of(i) - lowest + 1) / 2;
    if (histogram.count_ == 0) histogram.min_ = lowest;
    histogram.max_ = cells::highest_of(i);
    histogram.count_ += counts[i];
    histogram.sum_ += static_cast<double>(middle) * static_cast<double>(counts[i]);
  }
  histogram.counts_ = std::move(counts);
  return histogram;
}

}  // namespace forebay::telemetry

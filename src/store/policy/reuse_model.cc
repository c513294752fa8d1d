#include "store/policy/reuse_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace forebay::store::policy {
namespace {

// Evidence at which the older half starts to fade: long enough to learn a day, short enough to
// drift.
constexpr double kEvidenceMax = 4e6;
constexpr float kLean = 8;  // how many observations a family's word is worth
constexpr std::uint32_t kVersion = 1;

using Bins = std::array<float, kAgeBins>;

// First age of a bin, in requests.
float bin_start(std::size_t bin) {
  return bin == 0 ? 0 : std::exp2(static_cast<float>(bin - 1) / 2);
}
const Bins& bin_widths() {
  static const Bins widths = [] {
    Bins made{};
    for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
      made[bin] = std::max(bin_start(bin + 1) - bin_start(bin), 1.0F);
    }
    return made;
  }();
  return widths;
}

struct Sums {
  Bins touched{};
  Bins at_risk{};
};

Bins hazards(const Sums& sums, const Bins& prior, float lean) {
  Bins hazard{};
  for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
    hazard[bin] = (sums.touched[bin] + lean * prior[bin]) / (sums.at_risk[bin] + lean);
  }
  return hazard;
}

// For each bin: the best ratio over horizons of P(touch before it) to expected residence.
Bins gittins(const Bins& hazard) {
  const Bins& widths = bin_widths();
  Bins value{};
  for (std::size_t from = 0; from < kAgeBins; ++from) {
    float survival = 1;
    float residence = 0;
    float best = 0;
    for (std::size_t bin = from; bin < kAgeBins; ++bin) {
      const float next = survival * (1 - std::min(hazard[bin], 1.0F));
      residence += (survival + next) / 2 * widths[bin];
      survival = next;
      best = std::max(best, (1 - survival) / residence);
    }
    value[from] = best;
  }
  return value;
}

}  // namespace

std::size_t age_bin(std::uint32_t age_requests) {
  if (age_requests == 0) return 0;
  const auto octave = static_cast<std::size_t>(std::bit_width(age_requests)) - 1;
  // Half octaves: above sqrt(2) times the power of two lies the upper half.
  const std::uint64_t square = std::uint64_t{age_requests} * age_requests;
  const std::size_t upper = square >= (std::uint64_t{2} << (2 * octave)) ? 1 : 0;
  return std::min(kAgeBins - 1, 1 + 2 * octave + upper);
}

std::uint16_t ReuseGroup::of(std::uint32_t touches, bool known, std::uint32_t chain_blocks,
                             std::uint16_t space) {
  const std::size_t touch_class = std::min<std::size_t>(
      kTouchClasses - 1, touches <= 3 ? std::max(1U, touches) - 1 : std::bit_width(touches) + 0U);
  const std::size_t length_class =
      std::min<std::size_t>(kLengthClasses - 1, std::bit_width(chain_blocks));
  return static_cast<std::uint16_t>(((space % kSpaces) * kLengthClasses + length_class) *
                                        kFamilies +
                                    touch_class * 2 + (known ? 1 : 0));
}

std::size_t ReuseGroup::family_of(std::size_t group) { return group % kFamilies; }

ReuseModel::ReuseModel() : groups_(ReuseGroup::kCount), values_(ReuseGroup::kCount) {
  begin_survey();
  end_survey();
}

void ReuseModel::ended(std::uint16_t group, std::uint32_t age_requests, bool touched) {
  Counts& counts = groups_[group];
  ++(touched ? counts.touched : counts.lost)[age_bin(age_requests)];
  evidence_ += 1;
  if (evidence_ > kEvidenceMax) fade();
}

void ReuseModel::fade() {
  for (Counts& counts : groups_) {
    for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
      counts.touched[bin] /= 2;
      counts.lost[bin] /= 2;
    }
  }
  evidence_ /= 2;
}

void ReuseModel::begin_survey() {
  for (Counts& counts : groups_) counts.alive = {};
}

void ReuseModel::alive(std::uint16_t group, std::uint32_t age_requests, float weight) {
  groups_[group].alive[age_bin(age_requests)] += weight;
}

void ReuseModel::end_survey() {
  std::vector<Sums> groups(ReuseGroup::kCount);
  std::vector<Sums> families(ReuseGroup::kFamilies);
  Sums all;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const Counts& counts = groups_[group];
    float later = 0;
    for (std::size_t bin = kAgeBins; bin-- > 0;) {
      // Those that left unobserved within the bin were at risk for half of it.
      const float censored = counts.lost[bin] + counts.alive[bin];
      const float at_risk = later + counts.touched[bin] + censored / 2;
      later += counts.touched[bin] + censored;
      groups[group].touched[bin] = counts.touched[bin];
      groups[group].at_risk[bin] = at_risk;
      Sums& family = families[ReuseGroup::family_of(group)];
      family.touched[bin] += counts.touched[bin];
      family.at_risk[bin] += at_risk;
      all.touched[bin] += counts.touched[bin];
      all.at_risk[bin] += at_risk;
    }
  }
  // Without any evidence: half of all blocks come back, scale-free, as LRU believes.
  Bins believed{};
  believed.fill(0.02F);
  const Bins root = hazards(all, believed, kLean);
  std::vector<Bins> family_hazards(families.size());
  for (std::size_t i = 0; i < families.size(); ++i) {
    family_hazards[i] = hazards(families[i], root, kLean);
  }
  // Most groups were never seen: they are worth what their family is.
  std::vector<Bins> family_values(families.size());
  for (std::size_t i = 0; i < families.size(); ++i) family_values[i] = gittins(family_hazards[i]);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::size_t family = ReuseGroup::family_of(group);
    const bool seen = groups[group].at_risk[0] > 0;
    values_[group] = seen ? gittins(hazards(groups[group], family_hazards[family], kLean))
                          : family_values[family];
  }
}

std::vector<std::byte> ReuseModel::save() const {
  std::vector<std::byte> saved(sizeof kVersion + groups_.size() * 2 * sizeof(Bins));
  std::memcpy(saved.data(), &kVersion, sizeof kVersion);
  std::byte* at = saved.data() + sizeof kVersion;
  for (const Counts& counts : groups_) {
    std::memcpy(at, counts.touched.data(), sizeof(Bins));
    std::memcpy(at + sizeof(Bins), counts.lost.data(), sizeof(Bins));
    at += 2 * sizeof(Bins);
  }
  return saved;
}

Status ReuseModel::restore(std::span<const std::byte> saved) {
  std::uint32_t version = 0;
  if (saved.size() < sizeof version) return fail(Errc::kCorrupt, "policy state: too short");
  std::memcpy(&version, saved.data(), sizeof version);
  if (version != kVersion) return fail(Errc::kVersion, "policy state: another version");
  if (saved.size() != sizeof version + groups_.size() * 2 * sizeof(Bins)) {
    return fail(Errc::kCorrupt, "policy state: wrong size");
  }
  std::vector<Counts> restored(groups_.size());
  const std::byte* at = saved.data() + sizeof version;
  double evidence = 0;
  for (Counts& counts : restored) {
    std::memcpy(counts.touched.data(), at, sizeof(Bins));
    std::memcpy(counts.lost.data(), at + sizeof(Bins), sizeof(Bins));
    at += 2 * sizeof(Bins);
    for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
      for (const float count : {counts.touched[bin], counts.lost[bin]}) {
        if (!(count >= 0 && count <= kEvidenceMax * 2)) {
          return fail(Errc::kCorrupt, "policy state: a count is out of range");
        }
        evidence += count;
      }
    }
  }
  groups_ = std::move(restored);
  evidence_ = evidence;
  begin_survey();
  end_survey();
  return {};
}

std::size_t ReuseModel::bytes_used() const {
  return groups_.capacity() * sizeof(Counts) + values_.capacity() * sizeof(Bins);
}

}  // namespace forebay::store::policy

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
constexpr float kCountMax = 1e9F;  // a saved count above it is damage
constexpr float kLean = 32;        // how many observations a family's word is worth
constexpr std::uint32_t kVersion = 2;

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

// How many blocks reached each bin.
Bins risk_of(const Bins& touched, const Bins& lost, const Bins& alive) {
  Bins at_risk{};
  float later = 0;
  for (std::size_t bin = kAgeBins; bin-- > 0;) {
    // Those that left unobserved within the bin were at risk for half of it.
    const float censored = lost[bin] + alive[bin];
    at_risk[bin] = later + touched[bin] + censored / 2;
    later += touched[bin] + censored;
  }
  return at_risk;
}

Bins hazards(const Sums& sums, const Bins& prior) {
  Bins hazard{};
  for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
    hazard[bin] = (sums.touched[bin] + kLean * prior[bin]) / (sums.at_risk[bin] + kLean);
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

constexpr std::size_t kHeadBytes = 2 * sizeof(std::uint32_t);
constexpr std::size_t kGroupBytes = sizeof(std::uint32_t) + 2 * sizeof(Bins);

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.subspan(offset, sizeof word).data(), sizeof word);
  return word;
}
// False for what is no number, too.
bool plausible(float count) { return count >= 0 && count <= kCountMax; }

}  // namespace

std::size_t age_bin(std::uint32_t age_requests) {
  if (age_requests == 0) return 0;
  const auto octave = static_cast<std::size_t>(std::bit_width(age_requests)) - 1;
  // Half octaves: above sqrt(2) times the power of two lies the upper half.
  const std::uint64_t square = std::uint64_t{age_requests} * age_requests;
  const std::size_t upper = square >= (std::uint64_t{2} << (2 * octave)) ? 1 : 0;
  return std::min(kAgeBins - 1, 1 + 2 * octave + upper);
}

std::uint16_t ReuseGroup::of(const ReuseTraits& traits) {
  const std::uint32_t touches = std::max(1U, traits.touches);
  const std::size_t touch_class = std::min<std::size_t>(
      kTouchClasses - 1, touches <= 3 ? touches - 1 : std::bit_width(touches) + 0U);
  const std::size_t length_class =
      std::min<std::size_t>(kLengthClasses - 1, std::bit_width(traits.chain_blocks));
  const std::size_t wide = (traits.space % kSpaces) * kLengthClasses + length_class;
  const std::size_t family = (touch_class * kReturnClasses + traits.return_class) * 2;
  return static_cast<std::uint16_t>(wide * kFamilies + family + (traits.tip ? 1 : 0));
}

std::uint8_t ReuseGroup::touches_of(std::size_t group) {
  const std::size_t touch_class = family_of(group) / (kReturnClasses * 2);
  return static_cast<std::uint8_t>(touch_class < 3 ? touch_class + 1 : 1U << (touch_class - 1));
}

std::uint8_t ReuseGroup::return_class_of(std::uint32_t age_requests) {
  // Finer classes, or more of them, spread the evidence too thin.
  return age_requests < 8 ? 1 : age_requests < 32 ? 2 : age_requests < 128 ? 3 : 4;
}

ReuseModel::ReuseModel() : groups_(ReuseGroup::kCount), family_hazards_(ReuseGroup::kFamilies) {
  end_survey();
}

void ReuseModel::met(std::uint16_t group) {
  if (groups_[group].seen) return;
  groups_[group].seen = true;
  seen_.push_back(group);
  revalue(group);
}

void ReuseModel::ended(std::uint16_t group, std::uint32_t age_requests, bool touched) {
  Group& of = groups_[group];
  ++(touched ? of.touched : of.lost)[age_bin(age_requests)];
  evidence_ += 1;
  if (evidence_ > kEvidenceMax) fade();
}

void ReuseModel::fade() {
  for (const std::uint16_t group : seen_) {
    for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
      groups_[group].touched[bin] /= 2;
      groups_[group].lost[bin] /= 2;
    }
  }
  evidence_ /= 2;
}

void ReuseModel::begin_survey() {
  for (const std::uint16_t group : seen_) groups_[group].survey = {};
}

void ReuseModel::alive(std::uint16_t group, std::uint32_t age_requests, float weight) {
  groups_[group].survey[age_bin(age_requests)] += weight;
}

void ReuseModel::end_survey() {
  std::vector<Sums> families(ReuseGroup::kFamilies);
  Sums all;
  for (const std::uint16_t number : seen_) {
    Group& group = groups_[number];
    group.alive = group.survey;
    const Bins at_risk = risk_of(group.touched, group.lost, group.alive);
    Sums& family = families[ReuseGroup::family_of(number)];
    for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
      family.touched[bin] += group.touched[bin];
      family.at_risk[bin] += at_risk[bin];
      all.touched[bin] += group.touched[bin];
      all.at_risk[bin] += at_risk[bin];
    }
  }
  // Without any evidence: half of all blocks come back, scale-free, as LRU believes.
  Bins believed{};
  believed.fill(0.02F);
  const Bins root = hazards(all, believed);
  for (std::size_t i = 0; i < families.size(); ++i) {
    family_hazards_[i] = hazards(families[i], root);
  }
  next_refresh_ = 0;
}

bool ReuseModel::refresh(std::size_t count) {
  for (; count > 0 && next_refresh_ < seen_.size(); --count) revalue(seen_[next_refresh_++]);
  return next_refresh_ < seen_.size();
}

void ReuseModel::revalue(std::uint16_t number) {
  Group& group = groups_[number];
  const Sums sums{.touched = group.touched,
                  .at_risk = risk_of(group.touched, group.lost, group.alive)};
  group.value = gittins(hazards(sums, family_hazards_[ReuseGroup::family_of(number)]));
}

// Layout: version u32, group count u32, then per group its number u32, touched and lost counts
// (floats, one a bin). What was alive is saved as lost: after a restart nobody watches it.
std::vector<std::byte> ReuseModel::save() const {
  std::vector<std::uint16_t> numbers = seen_;
  std::ranges::sort(numbers);
  std::vector<std::byte> saved(kHeadBytes + numbers.size() * kGroupBytes);
  const auto count = static_cast<std::uint32_t>(numbers.size());
  std::memcpy(saved.data(), &kVersion, sizeof kVersion);
  std::memcpy(saved.data() + sizeof kVersion, &count, sizeof count);
  std::byte* at = saved.data() + kHeadBytes;
  for (const std::uint32_t number : numbers) {
    const Group& group = groups_[number];
    Bins lost{};
    for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
      lost[bin] = std::min(group.lost[bin] + group.alive[bin], kCountMax);
    }
    std::memcpy(at, &number, sizeof number);
    std::memcpy(at + sizeof number, group.touched.data(), sizeof(Bins));
    std::memcpy(at + sizeof number + sizeof(Bins), lost.data(), sizeof(Bins));
    at += kGroupBytes;
  }
  return saved;
}

Status ReuseModel::restore(std::span<const std::byte> saved) {
  if (saved.size() < kHeadBytes) return fail(Errc::kCorrupt, "policy state: too short");
  const auto version = word_at(saved, 0);
  if (version != kVersion) return fail(Errc::kVersion, "policy state: another version");
  const std::uint64_t count = word_at(saved, sizeof kVersion);
  if (saved.size() != kHeadBytes + count * kGroupBytes) {
    return fail(Errc::kCorrupt, "policy state: wrong size");
  }
  ReuseModel restored;
  for (std::size_t i = 0; i < count; ++i) {
    const auto record = saved.subspan(kHeadBytes + i * kGroupBytes, kGroupBytes);
    const std::uint32_t number = word_at(record, 0);
    const bool ascends = restored.seen_.empty() || number > restored.seen_.back();
    if (number >= ReuseGroup::kCount || !ascends) {
      return fail(Errc::kCorrupt, "policy state: no such group, or out of order");
    }
    Group& group = restored.groups_[number];
    std::memcpy(group.touched.data(), &record[sizeof number], sizeof(Bins));
    std::memcpy(group.lost.data(), &record[sizeof number + sizeof(Bins)], sizeof(Bins));
    for (std::size_t bin = 0; bin < kAgeBins; ++bin) {
      if (!plausible(group.touched[bin]) || !plausible(group.lost[bin])) {
        return fail(Errc::kCorrupt, "policy state: a count is out of range");
      }
      restored.evidence_ += group.touched[bin] + group.lost[bin];
    }
    group.seen = true;
    restored.seen_.push_back(static_cast<std::uint16_t>(number));
  }
  restored.end_survey();
  restored.refresh(restored.seen_.size());
  *this = std::move(restored);
  return {};
}

std::size_t ReuseModel::bytes_used() const {
  return groups_.capacity() * sizeof(Group) + family_hazards_.capacity() * sizeof(Bins);
}

}  // namespace forebay::store::policy

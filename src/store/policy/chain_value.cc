#include "store/policy/chain_value.h"

#include <limits>

namespace forebay::store::policy {
namespace {

constexpr std::size_t kGhostsMin = 1 << 19;   // 8 MiB: history matters most to small caches
constexpr std::uint32_t kKnownBlocksMin = 2;  // one alone is most often a shared system prompt
constexpr std::uint32_t kSurveyEvery = 128;   // requests, when the pieces take no longer
constexpr std::size_t kSurveySampleMax = 1 << 16;
constexpr std::size_t kSurveyPiece = 1024;   // blocks looked at in a request
constexpr std::size_t kRefreshPiece = 8;     // groups valued in a request
constexpr std::uint32_t kFadeEvery = 16384;  // requests: a drift is followed by then

// A mark is the group's number and one in its low bits, above it the age: 0, or its octave and one.
constexpr unsigned kMarkGroupBits = 12;
static_assert(ReuseGroup::kCount < (1U << kMarkGroupBits));
static_assert((kAgeBins / 2) < (1U << (kMarkBits - kMarkGroupBits)));
// Where a resumed policy's time begins, so that no age reaches behind it.
constexpr std::uint32_t kResumedRequest = 1U << 21;

std::uint8_t density_of(const BlockFacts& facts) {
  const double density = facts.recompute_ns / std::max(1U, facts.bytes);
  return static_cast<std::uint8_t>(
      std::clamp(std::lround(8 * std::log2(std::max(density, 1e-9))) + 128, 0L, 255L));
}

}  // namespace

ChainValue::ChainValue(const PolicyOptions& options)
    : ghosts_(std::max<std::size_t>(kGhostsMin, options.capacity_blocks / 8)),
      lists_(ReuseGroup::kCount) {}

void ChainValue::begin_request(const RequestContext& context) {
  context_ = context;
  ++request_;
  fresh_.clear();
  return_class_ = 0;
  at_tip_ = true;
  cheapest_.holds = false;
  learn();
}

std::uint16_t ChainValue::group_of(std::uint8_t touches, bool tip) const {
  return ReuseGroup::of({.touches = touches,
                         .chain_blocks = context_.chain_blocks,
                         .return_class = return_class_,
                         .tip = tip,
                         .space = context_.group});
}

void ChainValue::enter(Slot slot, std::uint8_t touches) {
  State& state = state_[slot];
  state.request = request_;
  state.touches = touches;
  state.group = group_of(touches, at_tip_);
  at_tip_ = false;
  cheapest_.holds = false;
  model_.met(state.group);
  lists_[state.group].push_newest(links_, slot);
}

bool ChainValue::enter_marked(Slot slot, std::uint32_t mark) {
  const std::uint32_t number = mark & ((1U << kMarkGroupBits) - 1);
  const std::uint32_t octave = mark >> kMarkGroupBits;
  if (number == 0 || number > ReuseGroup::kCount || octave > kAgeBins / 2) return false;
  State& state = state_[slot];
  state.group = static_cast<std::uint16_t>(number - 1);
  state.touches = ReuseGroup::touches_of(state.group);
  state.request = request_ - (octave == 0 ? 0 : 1U << (octave - 1));
  cheapest_.holds = false;
  model_.met(state.group);
  lists_[state.group].push_newest(links_, slot);
  return true;
}

std::uint32_t ChainValue::mark(Slot slot) const {
  const State& state = state_[slot];
  const std::size_t octave = (age_bin(request_ - state.request) + 1) / 2;
  return static_cast<std::uint32_t>(octave << kMarkGroupBits) | (state.group + 1U);
}

Status ChainValue::restore(std::span<const std::byte> saved) {
  FOREBAY_TRY_STATUS(model_.restore(saved));
  resumed_ = true;
  request_ = kResumedRequest;
  survey_.next_request = request_ + kSurveyEvery;
  return {};
}

// The deepest known block tells how soon the chain came back; the new blocks behind it, which came
// first, share that.
void ChainValue::came_back(std::uint16_t group, std::uint32_t age_requests) {
  model_.ended(group, age_requests, true);
  if (return_class_ != 0 || context_.known_blocks < kKnownBlocksMin) return;
  return_class_ = ReuseGroup::return_class_of(age_requests);
  for (std::size_t i = 0; i < fresh_.size(); ++i) {
    State& state = state_[fresh_[i]];
    if (state.touches == 0 || state.request != request_) continue;
    lists_[state.group].remove(links_, fresh_[i]);
    state.group = group_of(state.touches, i == 0);
    model_.met(state.group);
    lists_[state.group].push_newest(links_, fresh_[i]);
  }
  fresh_.clear();
}

void ChainValue::on_insert(const BlockFacts& facts) {
  if (facts.slot >= state_.size()) {
    state_.resize(facts.slot + 1);
    links_.resize(facts.slot + 1);
  }
  state_[facts.slot].density = density_of(facts);
  if (resumed_ && enter_marked(facts.slot, facts.mark)) return;
  std::uint8_t touches = 1;
  if (const Ghost* ghost = ghosts_.find(facts.key)) {
    came_back(ghost->group, request_ - ghost->request);
    touches = static_cast<std::uint8_t>(std::min(255, ghost->touches + 1));
    ghosts_.forget(facts.key);
  } else if (return_class_ == 0) {
    fresh_.push_back(facts.slot);
  }
  enter(facts.slot, touches);
}

void ChainValue::on_hit(Slot slot) {
  State& state = state_[slot];
  lists_[state.group].remove(links_, slot);
  came_back(state.group, request_ - state.request);
  enter(slot, static_cast<std::uint8_t>(std::min(255, state.touches + 1)));
}

void ChainValue::on_remove(Slot slot, std::uint64_t key) {
  State& state = state_[slot];
  lists_[state.group].remove(links_, slot);
  if (state.group != cheapest_.group) cheapest_.holds = false;
  const Ghost before = ghosts_.put(
      {.key = key, .request = state.request, .group = state.group, .touches = state.touches});
  state.touches = 0;
  if (before.key != 0) model_.ended(before.group, request_ - before.request, false);
}

double ChainValue::worth_of(const State& state) const {
  const double density = std::exp2((static_cast<double>(state.density) - 128) / 8);
  return density * static_cast<double>(model_.value(state.group, request_ - state.request));
}

double ChainValue::worth(Slot slot) const { return worth_of(state_[slot]); }

Slot ChainValue::victim(const ChainView& view) {
  if (cheapest_.holds) {
    const Slot slot = oldest_leaf(lists_[cheapest_.group], links_, view);
    if (slot != kNone && !view.has_resident_child(slot) &&
        worth_of(state_[slot]) < cheapest_.others_worth) {
      return slot;
    }
  }
  return search(view);
}

Slot ChainValue::search(const ChainView& view) {
  struct Best {
    Slot slot = kNone;
    double worth = std::numeric_limits<double>::infinity();
  };
  Best leaf;
  Best parent;
  cheapest_ = {.holds = true, .others_worth = std::numeric_limits<double>::infinity()};
  for (const std::uint16_t group : model_.seen()) {
    const Slot slot = oldest_leaf(lists_[group], links_, view);
    if (slot == kNone) continue;
    const double worth = worth_of(state_[slot]);
    const bool is_leaf = !view.has_resident_child(slot);
    Best& best = is_leaf ? leaf : parent;
    // Of equals the older, as LRU: what is known of nothing yet decides nothing.
    const bool less = worth < best.worth ||
                      (worth == best.worth && state_[slot].request < state_[best.slot].request);
    if (best.slot != kNone && !less) {
      if (is_leaf) cheapest_.others_worth = std::min(cheapest_.others_worth, worth);
      continue;
    }
    if (is_leaf) {
      cheapest_.others_worth = std::min(cheapest_.others_worth, best.worth);
      cheapest_.group = group;
    }
    best = {.slot = slot, .worth = worth};
  }
  if (leaf.slot == kNone) cheapest_.holds = false;
  return leaf.slot != kNone ? leaf.slot : parent.slot;
}

void ChainValue::learn() {
  if (request_ % kFadeEvery == 0) model_.fade();
  if (survey_.refreshing) {
    survey_.refreshing = model_.refresh(kRefreshPiece);
  } else if (survey_.under_way) {
    survey_piece();
  } else if (request_ >= survey_.next_request) {
    survey_ = {.next_request = request_ + kSurveyEvery, .under_way = true};
    model_.begin_survey();
    survey_piece();
  }
}

// A sample at even steps stands for all: learning runs on the core that serves lookups.
void ChainValue::survey_piece() {
  std::size_t left = kSurveyPiece;
  const std::size_t slots = state_.size();
  const std::size_t stride = std::max<std::size_t>(1, slots / kSurveySampleMax);
  for (; left > 0 && survey_.slot < slots; --left, survey_.slot += stride) {
    const State& state = state_[survey_.slot];
    if (state.touches == 0) continue;
    model_.alive(state.group, request_ - state.request, static_cast<float>(stride));
  }
  const auto& ghosts = ghosts_.entries();
  const std::size_t step = std::max<std::size_t>(1, ghosts.size() / kSurveySampleMax);
  for (; left > 0 && survey_.ghost < ghosts.size(); --left, survey_.ghost += step) {
    const Ghost& ghost = ghosts[survey_.ghost];
    if (ghost.key == 0) continue;
    model_.alive(ghost.group, request_ - ghost.request, static_cast<float>(step));
  }
  if (survey_.slot < slots || survey_.ghost < ghosts.size()) return;
  model_.end_survey();
  survey_.under_way = false;
  survey_.refreshing = true;
}

std::size_t ChainValue::bytes_used() const {
  return model_.bytes_used() + ghosts_.bytes_used() + links_.bytes_used() + state_.bytes_used() +
         lists_.capacity() * sizeof(OrderList);
}

}  // namespace forebay::store::policy

#include "store/policy/chain_value.h"

namespace forebay::store::policy {
namespace {

constexpr std::size_t kGhostsMin = 1 << 19;   // 8 MiB: history matters most to small caches
constexpr std::uint32_t kKnownBlocksMin = 2;  // one alone is most often a shared system prompt
constexpr std::uint32_t kSurveyEvery = 256;   // requests
constexpr std::size_t kSurveySampleMax = 1 << 16;

std::uint8_t density_of(const BlockFacts& facts) {
  const double density = facts.recompute_ns / std::max(1U, facts.bytes);
  return static_cast<std::uint8_t>(
      std::clamp(std::lround(8 * std::log2(std::max(density, 1e-9))) + 128, 0L, 255L));
}

}  // namespace

ChainValue::ChainValue(const PolicyOptions& options)
    : ghosts_(std::max<std::size_t>(kGhostsMin, options.capacity_blocks / 4)),
      lists_(ReuseGroup::kCount) {}

void ChainValue::begin_request(const RequestContext& context) {
  context_ = context;
  ++request_;
  if (request_ >= next_survey_) survey();
}

void ChainValue::enter(Slot slot, std::uint8_t touches) {
  State& state = state_[slot];
  state.request = request_;
  state.touches = touches;
  state.group = ReuseGroup::of(touches, context_.known_blocks >= kKnownBlocksMin,
                               context_.chain_blocks, context_.group);
  List& list = lists_[state.group];
  if (!list.listed) {
    list.listed = true;
    used_.push_back(state.group);
  }
  list.order.push_newest(links_, slot);
}

void ChainValue::on_insert(const BlockFacts& facts) {
  if (facts.slot >= state_.size()) {
    state_.resize(facts.slot + 1);
    links_.resize(facts.slot + 1);
  }
  std::uint8_t touches = 1;
  if (const Ghost* ghost = ghosts_.find(facts.key)) {
    model_.ended(ghost->group, request_ - ghost->request, true);
    touches = static_cast<std::uint8_t>(std::min(255, ghost->touches + 1));
    ghosts_.forget(facts.key);
  }
  state_[facts.slot].density = density_of(facts);
  enter(facts.slot, touches);
}

void ChainValue::on_hit(Slot slot) {
  State& state = state_[slot];
  lists_[state.group].order.remove(links_, slot);
  model_.ended(state.group, request_ - state.request, true);
  enter(slot, static_cast<std::uint8_t>(std::min(255, state.touches + 1)));
}

void ChainValue::on_remove(Slot slot, std::uint64_t key) {
  State& state = state_[slot];
  lists_[state.group].order.remove(links_, slot);
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
  Slot best = kNone;
  double least = 0;
  for (const std::uint16_t group : used_) {
    const Slot slot = oldest_leaf(lists_[group].order, links_, view);
    if (slot == kNone) continue;
    const double worth = worth_of(state_[slot]);
    if (best == kNone || worth < least) {
      best = slot;
      least = worth;
    }
  }
  return best;
}

void ChainValue::survey() {
  next_survey_ = request_ + std::min(kSurveyEvery, std::max(64U, request_ / 4));
  model_.begin_survey();
  // A sample at even steps stands for all: a survey runs on the core that serves lookups.
  const std::size_t stride = std::max<std::size_t>(1, state_.size() / kSurveySampleMax);
  for (std::size_t slot = 0; slot < state_.size(); slot += stride) {
    const State& state = state_[slot];
    if (state.touches == 0) continue;
    model_.alive(state.group, request_ - state.request, static_cast<float>(stride));
  }
  const auto& ghosts = ghosts_.entries();
  const std::size_t step = std::max<std::size_t>(1, ghosts.size() / kSurveySampleMax);
  for (std::size_t i = 0; i < ghosts.size(); i += step) {
    const Ghost& ghost = ghosts[i];
    if (ghost.key == 0) continue;
    model_.alive(ghost.group, request_ - ghost.request, static_cast<float>(step));
  }
  model_.end_survey();
}

std::size_t ChainValue::bytes_used() const {
  return model_.bytes_used() + ghosts_.bytes_used() + links_.bytes_used() + state_.bytes_used();
}

}  // namespace forebay::store::policy

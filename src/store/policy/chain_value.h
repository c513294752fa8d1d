// Forebay's own policy: evict the block whose residence is expected to save least.
//
// Worth = recompute cost x expected touches per unit of residence / bytes, the middle factor from
// ReuseModel. Blocks stand in one list a group, oldest first; only the groups' oldest members
// compete, and of these leaves go before parents: a chain without its middle is worth nothing.
// Ghosts keep the history of blocks that are gone, so that what comes back is recognised and what
// never does is learned from too. Learning is spread: every request does a bounded piece of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "store/policy/ghost_table.h"
#include "store/policy/order_list.h"
#include "store/policy/reuse_model.h"

namespace forebay::store::policy {

class ChainValue final : public Policy {
 public:
  explicit ChainValue(const PolicyOptions& options);

  [[nodiscard]] std::string_view name() const override { return "forebay"; }
  [[nodiscard]] bool remembers(std::uint64_t key) const override {
    return ghosts_.find(key) != nullptr;
  }
  void begin_request(const RequestContext& context) override;
  void on_insert(const BlockFacts& facts) override;
  void on_hit(Slot slot) override;
  void on_remove(Slot slot, std::uint64_t key) override;
  [[nodiscard]] Slot victim(const ChainView& view) override;
  [[nodiscard]] double worth(Slot slot) const override;
  [[nodiscard]] std::size_t bytes_used() const override;
  [[nodiscard]] std::vector<std::byte> save() const override { return model_.save(); }
  // Group and age, the latter in octaves.
  [[nodiscard]] std::uint32_t mark(Slot slot) const override;
  [[nodiscard]] bool resumed() const override { return resumed_; }
  [[nodiscard]] Status restore(std::span<const std::byte> saved) override;

 private:
  // 16 bytes with the links: what the index leaves of its 64.
  struct State {
    std::uint32_t request = 0;  // of the last touch
    std::uint16_t group = 0;
    std::uint8_t touches = 0;    // 0: not resident
    std::uint8_t density = 128;  // 8 x log2(cost / bytes) + 128
  };
  static_assert(sizeof(State) == 8);
  // The cheapest list, found by the last look at all, and what the others begin at. Holds as long
  // as only blocks of that list leave.
  struct Cheapest {
    bool holds = false;
    std::uint16_t group = 0;
    double others_worth = 0;
  };
  struct Survey {
    std::uint32_t next_request = 64;
    bool under_way = false;
    bool refreshing = false;
    std::size_t slot = 0;
    std::size_t ghost = 0;
  };

  void enter(Slot slot, std::uint8_t touches);
  // False for a mark of no group.
  [[nodiscard]] bool enter_marked(Slot slot, std::uint32_t mark);
  void came_back(std::uint16_t group, std::uint32_t age_requests);
  [[nodiscard]] std::uint16_t group_of(std::uint8_t touches, bool tip) const;
  [[nodiscard]] Slot search(const ChainView& view);
  void learn();
  void survey_piece();
  [[nodiscard]] double worth_of(const State& state) const;

  ReuseModel model_;
  GhostTable ghosts_;
  SlotArray<Links> links_;
  SlotArray<State> state_;
  std::vector<OrderList> lists_;
  RequestContext context_;
  std::vector<Slot> fresh_;        // of this request, until its chain is recognised
  std::uint8_t return_class_ = 0;  // of this request's chain
  bool at_tip_ = true;             // the next touch is the request's first
  Cheapest cheapest_;
  Survey survey_;
  std::uint32_t request_ = 0;
  bool resumed_ = false;
};

}  // namespace forebay::store::policy

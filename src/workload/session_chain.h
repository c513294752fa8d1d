// Turns of sessions, and block ids of their growing contexts, from prefix lengths alone.
//
// Formats like TraceLab's say how many leading tokens a round shared with the round before, not
// which blocks they were. The whole blocks inside that prefix keep their ids; all behind them are
// new. So reuse is exact within a session (to a block) and never claimed across sessions. Threads:
// one owner. Memory: kSessionsMax sessions at least; a session that was away longer starts anew.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/recent_map.h"
#include "workload/request.h"

namespace forebay::workload {

struct SessionTurn {
  std::int64_t last_index = -1;      // of the round before; -1: none
  std::int64_t arrival_ns = 0;       // of the round before
  std::int64_t end_ns = 0;           // when it ended, as far as the trace says
  std::int64_t wait_ns = 0;          // between its end and the next round
  std::int64_t clock_offset_ns = 0;  // the session's recorded clock minus the trace's
  std::uint64_t last_round = 0;
  std::uint32_t turn_count = 0;

  // From block `first` on, block b is named by (name, b).
  struct Segment {
    std::uint64_t first;
    std::uint64_t name;
  };
  std::vector<Segment> segments;
  std::uint64_t full_blocks = 0;  // of the last context
};

class SessionChains {
 public:
  static constexpr std::size_t kSessionsMax = 1 << 18;

  SessionTurn& operator[](std::uint64_t session) { return turns_[session]; }
  // Sets session, turn and parent of `request`, and counts it as the session's latest.
  static void follow(SessionTurn& turn, std::uint64_t session, Request& request);
  // Names the blocks of request.input_tokens tokens, `prefix_tokens` of them shared with the round
  // before; block_tokens > 0.
  static void name_blocks(SessionTurn& turn, std::uint64_t prefix_tokens,
                          std::uint32_t block_tokens, Request& request);
  [[nodiscard]] bool forgot() const { return turns_.forgot(); }

 private:
  RecentMap<SessionTurn> turns_{kSessionsMax};
};

}  // namespace forebay::workload

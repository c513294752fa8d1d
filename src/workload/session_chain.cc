#include "workload/session_chain.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/rng.h"

namespace forebay::workload {

void SessionChains::follow(SessionTurn& turn, std::uint64_t session, Request& request) {
  request.session = session;
  request.turn = turn.turn_count++;
  request.parent = turn.last_index;
  turn.last_index = static_cast<std::int64_t>(request.index);
}

void SessionChains::name_blocks(SessionTurn& turn, std::uint64_t prefix_tokens,
                                std::uint32_t block_tokens, Request& request) {
  const std::uint64_t kept = std::min(prefix_tokens / block_tokens, turn.full_blocks);
  std::vector<SessionTurn::Segment>& segments = turn.segments;
  while (!segments.empty() && segments.back().first >= kept) segments.pop_back();
  segments.push_back({kept, mix64(request.session + mix64(request.turn))});
  const std::uint64_t count = divide_up(request.input_tokens, block_tokens);
  request.block_tokens = block_tokens;
  request.block_ids.reserve(count);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::uint64_t end = i + 1 < segments.size() ? segments[i + 1].first : count;
    for (std::uint64_t b = segments[i].first; b < std::min(end, count); ++b) {
      request.block_ids.push_back(mix64(segments[i].name ^ mix64(b)));
    }
  }
  turn.full_blocks = request.input_tokens / block_tokens;
}

}  // namespace forebay::workload

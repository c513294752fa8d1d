#include "plan/synthetic_chains.h"

#include <algorithm>
#include <vector>

#include "core/rng.h"

namespace forebay::plan {
namespace {

constexpr std::uint64_t kSyntheticTurnBlocks = 8;  // mean blocks that a turn adds

}  // namespace

BlockTrace synthetic_chains(std::uint64_t blocks, std::uint64_t seed) {
  Rng rng = Rng(seed).fork("synthetic chains");
  BlockTraceBuilder builder;
  std::vector<std::vector<std::uint64_t>> sessions;
  std::uint64_t made = 0;
  while (made < blocks) {
    const bool fresh = sessions.size() < 16 || rng.chance(0.2);
    if (fresh) {
      sessions.push_back({rng.below(32)});  // one of 32 system prompts
      if (sessions.size() > 4096) sessions.erase(sessions.begin());
    }
    // Recent sessions are likelier to go on.
    const auto back = static_cast<std::size_t>(rng.exponential() * 200);
    auto& session = fresh ? sessions.back()
                          : sessions[sessions.size() - 1 - std::min(back, sessions.size() - 1)];
    const std::uint64_t grow = std::min(blocks - made, 1 + rng.below(2 * kSyntheticTurnBlocks - 1));
    for (std::uint64_t i = 0; i < grow; ++i) session.push_back(1000 + made++);
    builder.add(session, 0, 1);
  }
  return builder.take();
}

}  // namespace forebay::plan

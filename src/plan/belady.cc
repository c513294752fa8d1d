#include "plan/belady.h"

namespace forebay::plan {

using store::policy::Slot;

Belady::Belady(const BlockTrace& trace)
    : trace_(trace), next_use_(trace.blocks.size()), next_of_(trace.unique_blocks, kGone) {
  // "Never again" is later than every request, and earlier than kGone.
  const auto never = static_cast<std::uint32_t>(trace.requests.size());
  std::vector<std::uint32_t> upcoming(trace.unique_blocks, never);
  for (std::size_t request = trace.requests.size(); request-- > 0;) {
    const BlockTrace::Access& access = trace.requests[request];
    for (std::uint32_t i = 0; i < access.count; ++i) {
      next_use_[access.first + i] = upcoming[trace.blocks[access.first + i]];
    }
    for (std::uint32_t i = 0; i < access.count; ++i) {
      upcoming[trace.blocks[access.first + i]] = static_cast<std::uint32_t>(request);
    }
  }
}

// The owner touches a chain from its deepest block to the first: places go down one by one.
void Belady::touch(Slot slot) {
  --at_;
  next_of_[slot] = next_use_[at_];
  const std::uint32_t depth = static_cast<std::uint32_t>(at_ - trace_.requests[request_].first);
  queue_.push({next_of_[slot], depth, slot});
}

Slot Belady::victim(const store::policy::ChainView& /*view*/) {
  while (!queue_.empty()) {
    const Candidate top = queue_.top();
    if (next_of_[top.slot] == top.next) return top.slot;
    queue_.pop();
  }
  return store::policy::kNone;
}

}  // namespace forebay::plan

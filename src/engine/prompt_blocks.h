// The KV blocks of one request's prompt: their 64-bit names and their 32-byte identities.
//
// A trace cuts prompts into blocks of its own size; the engine and its backend use another. The
// engine's block i covers tokens [i * block_tokens, (i + 1) * block_tokens) and takes its name from
// the trace blocks up to the one that holds its last token, chained with the block before it. So
// two requests share engine blocks exactly as far as their traces say that they share a prefix
// (rounded down to whole trace blocks), whatever the two sizes are.
//
// Only full blocks are named: the partial last one is never cached, nor are output tokens (traces
// give them no identity). Without identities in the trace no two requests share anything.
// Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "store/key.h"
#include "workload/request.h"

namespace forebay::engine {

struct PromptBlocks {
  std::vector<std::uint64_t> names;  // one a full block, in order
  std::vector<store::BlockId> ids;   // of the same blocks
};

[[nodiscard]] PromptBlocks prompt_blocks(const workload::Request& request,
                                         std::uint32_t block_tokens, const store::KeySpace& space);

}  // namespace forebay::engine

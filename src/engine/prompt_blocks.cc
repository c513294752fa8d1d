#include "engine/prompt_blocks.h"

#include "core/bytes.h"
#include "core/rng.h"

namespace forebay::engine {
namespace {

// What the trace says about the block that holds `token`, or something of this request alone.
std::uint64_t trace_word(const workload::Request& request, std::uint64_t token) {
  if (request.block_tokens > 0) {
    const std::uint64_t at = token / request.block_tokens;
    if (at < request.block_ids.size()) return request.block_ids[at];
  }
  return mix64(mix64(request.index) + token);
}

}  // namespace

PromptBlocks prompt_blocks(const workload::Request& request, std::uint32_t block_tokens,
                           const store::KeySpace& space) {
  const std::size_t count = request.input_tokens / block_tokens;
  PromptBlocks blocks;
  blocks.names.reserve(count);
  blocks.ids.reserve(count);
  std::uint64_t chain = mix64(block_tokens);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t last_token = (i + 1) * std::uint64_t{block_tokens} - 1;
    chain = mix64(chain + mix64(trace_word(request, last_token)));
    blocks.names.push_back(chain);
    blocks.ids.push_back(store::make_block_id(space, bytes_of(chain)));
  }
  return blocks;
}

}  // namespace forebay::engine

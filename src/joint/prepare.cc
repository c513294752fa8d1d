#include "joint/prepare.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "core/bytes.h"
#include "engine/content.h"
#include "engine/prompt_blocks.h"
#include "io/huge_memory.h"

namespace forebay::joint {
namespace {

constexpr std::uint64_t kChunkBytes = 64 * kMiB;
constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

Task<Prepared> prepare_store(std::span<const workload::Request> requests,
                             engine::KvBackend* backend, const engine::EngineOptions* options,
                             const std::atomic<bool>* stop) {
  Prepared prepared;
  const std::uint64_t block_bytes = options->kv_bytes_per_token * options->block_tokens;
  const std::uint64_t stride = round_up(block_bytes, kPageBytes);
  const std::size_t chunk_blocks = std::max<std::uint64_t>(1, kChunkBytes / stride);
  auto memory = io::HugeMemory::map(chunk_blocks * stride);
  if (!memory) {
    prepared.status = std::unexpected(memory.error());
    co_return prepared;
  }
  const std::uint64_t layout =
      engine::layout_word(options->space.tenant, options->space.layout_fingerprint);
  std::unordered_set<std::uint64_t> stored;
  std::vector<engine::KvBlock> blocks;
  for (const workload::Request& request : requests) {
    const engine::PromptBlocks prompt =
        engine::prompt_blocks(request, options->block_tokens, options->space);
    for (std::size_t i = 0; i < prompt.names.size();) {
      if (stop != nullptr && stop->load()) co_return prepared;
      blocks.clear();
      for (; i < prompt.names.size() && blocks.size() < chunk_blocks; ++i) {
        if (!stored.insert(prompt.names[i]).second) continue;
        const auto bytes = memory->bytes().subspan(blocks.size() * stride, block_bytes);
        engine::fill_content(bytes,
                             engine::content_key(options->content_seed, prompt.names[i], layout));
        blocks.push_back({.id = prompt.ids[i],
                          .parent = i == 0 ? store::kNoParent : prompt.ids[i - 1],
                          .name = prompt.names[i],
                          .token_count = options->block_tokens,
                          .chain_depth = static_cast<std::uint32_t>(i),
                          .bytes = bytes,
                          .owner = nullptr});
      }
      if (blocks.empty()) continue;
      co_await backend->save(blocks, request.index + 1);
      co_await backend->drain();
      prepared.blocks += blocks.size();
    }
  }
  co_return prepared;
}

}  // namespace forebay::joint

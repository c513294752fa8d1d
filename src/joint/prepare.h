// Stores the KV of a workload's prompts before the clock starts, as if they had been served
// earlier.
//
// The contents are what the engine will demand of them. Blocks go in the order of the workload,
// each once, and a chunk is durable before the next is offered, so a bounded write-back never drops
// any. Suspends. Threads: the backend's loop.
#pragma once

#include <atomic>
#include <span>

#include "engine/emulated.h"
#include "engine/kv_backend.h"
#include "workload/request.h"

namespace forebay::joint {

struct Prepared {
  std::uint64_t blocks = 0;
  Status status;  // kNoSpace: no memory for the chunk
};

// `stop` may be null. What `requests` and `backend` point to outlives the task.
[[nodiscard]] Task<Prepared> prepare_store(std::span<const workload::Request> requests,
                                           engine::KvBackend* backend,
                                           const engine::EngineOptions* options,
                                           const std::atomic<bool>* stop);

}  // namespace forebay::joint

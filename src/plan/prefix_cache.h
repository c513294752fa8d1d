// A block-level prefix cache on a trace: what a policy would hit, without any bytes.
//
// Semantics: a request hits its leading run of resident blocks only; then all of its blocks are
// inserted, and blocks are evicted until the capacity holds, the new ones included. Belady's
// optimum runs under the same semantics with the future known: the limit that no policy can pass.
//
// Pure and deterministic. Units: blocks; bytes are per block as given. Threads: one caller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/policy/policy.h"

namespace forebay::plan {

// A trace in dense form: block ids renumbered from 0 in order of first appearance.
struct BlockTrace {
  struct Access {
    std::uint32_t first = 0;  // into `blocks`
    std::uint32_t count = 0;
    std::uint16_t group = 0;  // key space (model)
  };
  std::vector<Access> requests;
  std::vector<std::uint32_t> blocks;       // every request's chain, one after another
  std::vector<std::uint32_t> block_bytes;  // by dense id; empty: 1 each
  std::vector<double> recompute_ns;        // by dense id; empty: 1 each
  std::uint32_t unique_blocks = 0;
};

// Builds a BlockTrace from chains of ids.
class BlockTraceBuilder {
 public:
  BlockTraceBuilder();
  ~BlockTraceBuilder();
  void add(std::span<const std::uint64_t> chain, std::uint16_t group, std::uint32_t block_bytes);
  [[nodiscard]] BlockTrace take();

 private:
  struct Ids;
  std::unique_ptr<Ids> ids_;
  BlockTrace trace_;
};

struct CacheOutcome {
  std::string policy;
  std::uint64_t capacity_blocks = 0;
  std::uint64_t hit_blocks = 0;
  std::uint64_t accessed_blocks = 0;
  std::uint64_t hit_bytes = 0;
  std::uint64_t accessed_bytes = 0;
  std::uint64_t evicted_blocks = 0;
  std::uint64_t policy_bytes = 0;  // memory of the policy at the end
  [[nodiscard]] double hit_ratio() const;
  [[nodiscard]] double byte_hit_ratio() const;
};

// `policy`: a name of policy_names(), "belady", or "infinite" (capacity is ignored). kInvalid:
// another.
[[nodiscard]] Result<CacheOutcome> simulate(const BlockTrace& trace, std::string_view policy,
                                            std::uint64_t capacity_blocks);
// The same with a policy that the caller made (and may have warmed).
[[nodiscard]] CacheOutcome simulate_with(const BlockTrace& trace, store::policy::Policy& policy,
                                         std::uint64_t capacity_blocks);

}  // namespace forebay::plan

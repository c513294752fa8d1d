// Faults of a simulated (or decorated) device: rules that match operations, drawn from a seed.
//
// A rule matches by kind, file and offset range, lets `skip` matches pass, then strikes `count`
// times (0: for ever) with `probability` each. Pure; the order of operations and the seed decide
// all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/rng.h"
#include "io/op.h"

namespace forebay::io {

enum class FaultKind : std::uint8_t {
  kIoError,      // fails with kIo, nothing transferred; a flush loses what it was to keep
  kShort,        // ends early, as if the file were shorter
  kTornWrite,    // only a prefix of the sectors lands, yet success is reported
  kLostWrite,    // nothing lands, yet success is reported
  kMisdirected,  // lands one transfer further on, yet success is reported
  kBitRot,       // a read returns one flipped bit; the image stays whole
  kLatency,      // takes `latency` longer
  kStuck,        // does not complete until released
  kFull,         // a write fails with kNoSpace
  kReadOnly,     // a write fails with kReadOnly
};
inline constexpr std::size_t kFaultKindCount = 10;
[[nodiscard]] const char* to_string(FaultKind kind);

struct FaultRule {
  FaultKind kind = FaultKind::kIoError;
  std::optional<OpKind> op;  // nothing: reads and writes
  std::uint64_t offset_first = 0;
  std::uint64_t offset_last = ~std::uint64_t{0};  // inclusive, of the operation's first byte
  std::uint64_t skip = 0;
  std::uint64_t count = 0;
  double probability = 1;
  Nanos latency{0};
};

class FaultRules {
 public:
  explicit FaultRules(std::uint64_t seed) : rng_(Rng(seed).fork("faults")) {}
  void add(const FaultRule& rule) { rules_.push_back({rule, 0, 0}); }
  void clear() { rules_.clear(); }
  // The first rule that strikes this operation.
  [[nodiscard]] std::optional<FaultRule> strike(OpKind kind, std::uint64_t offset_bytes);
  [[nodiscard]] std::uint64_t struck(FaultKind kind) const;
  [[nodiscard]] Rng& rng() { return rng_; }

 private:
  struct Entry {
    FaultRule rule;
    std::uint64_t seen = 0;
    std::uint64_t struck = 0;
  };
  std::vector<Entry> rules_;
  std::uint64_t struck_[kFaultKindCount] = {};
  Rng rng_;
};

}  // namespace forebay::io

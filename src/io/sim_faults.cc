#include "io/sim_faults.h"

namespace forebay::io {

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIoError:
      return "io_error";
    case FaultKind::kShort:
      return "short";
    case FaultKind::kTornWrite:
      return "torn_write";
    case FaultKind::kLostWrite:
      return "lost_write";
    case FaultKind::kMisdirected:
      return "misdirected";
    case FaultKind::kBitRot:
      return "bit_rot";
    case FaultKind::kLatency:
      return "latency";
    case FaultKind::kStuck:
      return "stuck";
    case FaultKind::kFull:
      return "full";
    case FaultKind::kReadOnly:
      return "read_only";
  }
  return "unknown";
}

namespace {

bool fits(const FaultRule& rule, OpKind kind, std::uint64_t offset_bytes) {
  if (rule.op ? *rule.op != kind : kind != OpKind::kRead && kind != OpKind::kWrite) return false;
  const bool writes_only = rule.kind == FaultKind::kTornWrite ||
                           rule.kind == FaultKind::kLostWrite ||
                           rule.kind == FaultKind::kMisdirected || rule.kind == FaultKind::kFull ||
                           rule.kind == FaultKind::kReadOnly;
  if (writes_only && kind != OpKind::kWrite) return false;
  if (rule.kind == FaultKind::kBitRot && kind != OpKind::kRead) return false;
  return offset_bytes >= rule.offset_first && offset_bytes <= rule.offset_last;
}

}  // namespace

std::optional<FaultRule> FaultRules::strike(OpKind kind, std::uint64_t offset_bytes) {
  for (Entry& entry : rules_) {
    const FaultRule& rule = entry.rule;
    if (!fits(rule, kind, offset_bytes)) continue;
    if (rule.count != 0 && entry.struck >= rule.count) continue;
    if (entry.seen++ < rule.skip) continue;
    if (rule.probability < 1 && !rng_.chance(rule.probability)) continue;
    ++entry.struck;
    ++struck_[static_cast<std::size_t>(rule.kind)];
    return rule;
  }
  return std::nullopt;
}

std::uint64_t FaultRules::struck(FaultKind kind) const {
  return struck_[static_cast<std::size_t>(kind)];
}

}  // namespace forebay::io

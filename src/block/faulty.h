// A device that fails on purpose, by rules and a seed, over another device.
//
// The device below stays whole: damage is done to what passes (a flipped bit in a read, a write
// that is cut, lost or sent elsewhere), never to it behind its back. Rules are io/sim_faults.h's;
// every strike is counted. vanish() makes everything fail with kGone until it returns. Owns the
// device below. A write that is cut or misdirected needs no copy: pieces are cut at page borders.
#pragma once

#include <memory>

#include "block/device.h"
#include "io/sim_faults.h"

namespace forebay::block {

class FaultyDevice : public Device {
 public:
  [[nodiscard]] static std::unique_ptr<FaultyDevice> make(std::unique_ptr<Device> below,
                                                          std::uint64_t seed);
  [[nodiscard]] virtual io::FaultRules& faults() = 0;
  virtual void set_vanished(bool vanished) = 0;
  // Requests that are stuck go on now.
  virtual void release_stuck() = 0;
  [[nodiscard]] virtual std::size_t stuck_count() const = 0;
};

}  // namespace forebay::block

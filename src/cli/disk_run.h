// A device under load: so many requests of one size in flight until a list of offsets is done.
//
// Drives the device's loop; for benchmarks only. Threads: one.
#pragma once

#include <cstdint>
#include <vector>

#include "block/device.h"
#include "cli/bench_arena.h"
#include "telemetry/histogram.h"

namespace forebay::cli {

class DiskRun {
 public:
  DiskRun(block::Device& device, block::RequestKind kind, std::uint64_t block_bytes,
          std::size_t depth);

  // Bytes a second, or the first error. Writes are flushed at the end, within the time.
  [[nodiscard]] Result<double> run(std::vector<std::uint64_t> offsets);
  // Of every request so far, in nanoseconds, from submit() to its end.
  [[nodiscard]] const telemetry::Histogram& latency() const { return latency_; }

 private:
  struct Slot {
    block::Request request;
    DiskRun* run = nullptr;
    Nanos submitted{};
  };
  void submit_next(Slot& slot);
  void on_done(Slot& slot);

  block::Device& device_;
  BenchArena arena_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> offsets_;
  std::size_t next_ = 0;
  std::size_t in_flight_ = 0;
  Status status_;
  telemetry::Histogram latency_;
};

}  // namespace forebay::cli

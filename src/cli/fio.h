// fio as the reference: one job, run as a child, its JSON read back.
//
// Blocks until fio ended; for benchmarks only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace forebay::cli {

struct FioJob {
  std::string path;  // a file or device that exists with `size_bytes`
  std::uint64_t size_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t in_flight_bytes = 0;  // io depth = this over block_bytes, at least 1
  bool write = false;                 // else read
  bool random = true;
  bool huge_pages = true;    // --iomem=shmhuge: needs reserved huge pages
  bool flush_at_end = true;  // writes: end_fsync
  bool drains = false;       // waits for all that is in flight before it asks for more
  std::uint64_t seed = 1;
};

struct FioResult {
  double bytes_per_second = 0;
  double cpu_seconds_per_gib = 0;
};

// kUnsupported: fio is not installed. kIo: it failed (its words go to the log).
[[nodiscard]] Result<FioResult> run_fio(const FioJob& job);

// "fio-3.33", or "" without one.
[[nodiscard]] std::string fio_version();

// The best of random and sequential, with huge and with 4 KiB pages: fio with one setting is
// beatable. `label` names the winner. `after_each` runs after each setting: what is compared with
// the best of several runs deserves as many, among them.
[[nodiscard]] Result<FioResult> best_fio_read(FioJob job, std::string* label,
                                              const std::function<void()>& after_each);

// The machine's reserve of huge pages, as it was when this was made. Restoring it takes root.
class HugePageCount {
 public:
  HugePageCount();
  [[nodiscard]] std::uint64_t count() const { return count_; }
  void restore() const;

 private:
  std::uint64_t count_ = 0;
};

// Reserves huge pages for fio's shared memory while it lives, where we may (root); puts the old
// number back. `available` says whether --iomem=shmhuge can work.
class HugePageReserve {
 public:
  explicit HugePageReserve(std::uint64_t bytes);
  ~HugePageReserve() { before_.restore(); }
  HugePageReserve(const HugePageReserve&) = delete;
  HugePageReserve& operator=(const HugePageReserve&) = delete;
  [[nodiscard]] bool available() const { return available_; }

 private:
  HugePageCount before_;
  bool available_ = false;
};

}  // namespace forebay::cli

// Which blocks are worth writing to flash: all, or those that are expected to be used again.
//
// `reuse` keeps a frequency sketch (count-min, 4-bit counters, halved as it ages) of every block
// that was offered or asked for, and admits a block that it saw before. It costs the first write of
// everything that is never asked for again, which is most of what wears flash out.
//
// Pure, deterministic. Memory: fixed by `block_count_expected`. Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "store/key.h"

namespace forebay::store {

class FrequencySketch {
 public:
  explicit FrequencySketch(std::size_t block_count_expected);
  void record(std::uint64_t word);
  [[nodiscard]] unsigned estimate(std::uint64_t word) const;  // 0 to 15
  [[nodiscard]] std::uint64_t memory_bytes() const { return cells_.size(); }

 private:
  static constexpr unsigned kRows = 4;
  [[nodiscard]] std::size_t cell(std::uint64_t word, unsigned row) const;
  void age();
  std::vector<std::uint8_t> cells_;  // two counters each
  std::uint64_t mask_;
  std::uint64_t recorded_ = 0;
  std::uint64_t recorded_max_;
};

class Admission {
 public:
  virtual ~Admission() = default;
  // The block was offered, or asked for.
  virtual void see(const BlockId& id) = 0;
  [[nodiscard]] virtual bool admits(const BlockId& id) const = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
};

// kInvalid: no filter of that name.
[[nodiscard]] Result<std::unique_ptr<Admission>> make_admission(std::string_view name,
                                                                std::size_t block_count_expected);

}  // namespace forebay::store

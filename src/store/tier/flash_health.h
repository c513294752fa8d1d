// Whether the flash tier may write, may read, and why not; and how fast it wears the device.
//
// Pure: it is told of every outcome and asked before every write. A device that is full, read-only,
// failing or taken over by another turns the tier read-only; one that is gone turns it off; probing
// (the tier's business) brings either back. Times are the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "block/device.h"
#include "store/tier/flash.h"

namespace forebay::store {

// A bucket that fills with written bytes and leaks at the allowed rate; one day's worth may burst.
class WearMeter {
 public:
  // drive_writes_per_day_max 0: measures, never refuses.
  WearMeter(std::uint64_t capacity_bytes, double drive_writes_per_day_max, Nanos now);

  void add(std::uint64_t bytes, Nanos now);
  // Above the limit; stays so until a twentieth of the bucket has leaked.
  [[nodiscard]] bool exceeded(Nanos now);
  // The rate since the meter began, in capacities a day.
  [[nodiscard]] double drive_writes_per_day(Nanos now) const;
  // Kept over restarts.
  [[nodiscard]] std::uint64_t level_bytes(Nanos now);
  void restore(std::uint64_t level_bytes) { level_ = static_cast<double>(level_bytes); }

 private:
  void leak(Nanos now);
  double capacity_;
  double allowed_per_day_;  // bytes; 0: no limit
  Nanos began_;
  Nanos leaked_at_;
  double level_ = 0;
  double written_ = 0;
  bool exceeded_ = false;
};

class FlashHealth {
 public:
  static constexpr int kFailuresMax = 3;  // writes in a row

  void note(const block::Request& done);
  void note_wear(bool exceeded);
  // A probe found the device well again (its writes too).
  void recover();
  void stay(FlashMode mode, std::string reason);  // a probe's finding

  void on_change(std::function<void()> callback) { on_change_.push_back(std::move(callback)); }

  [[nodiscard]] FlashMode mode() const { return mode_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool worn() const { return worn_; }
  // Why a write may not be tried now; the second leaves the wear limit aside.
  [[nodiscard]] Status may_write() const;
  [[nodiscard]] Status device_may_write() const;

 private:
  void enter(FlashMode mode, std::string reason);
  FlashMode mode_ = FlashMode::kReadWrite;
  std::string reason_;
  int write_failures_ = 0;
  bool worn_ = false;
  std::vector<std::function<void()>> on_change_;
};

}  // namespace forebay::store

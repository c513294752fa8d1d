#include "store/tier/flash_health.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/error.h"
#include "core/log.h"

namespace forebay::store {
namespace {

constexpr double kDayNs = 24.0 * 3600 * 1e9;
constexpr double kRecoveredShare = 0.95;

double span_ns(Nanos from, Nanos to) { return static_cast<double>((to - from).count()); }

}  // namespace

WearMeter::WearMeter(std::uint64_t capacity_bytes, double drive_writes_per_day_max, Nanos now)
    : capacity_(static_cast<double>(std::max<std::uint64_t>(capacity_bytes, 1))),
      allowed_per_day_(drive_writes_per_day_max * capacity_),
      began_(now),
      leaked_at_(now) {}

void WearMeter::leak(Nanos now) {
  const double leaked = span_ns(leaked_at_, now) / kDayNs * allowed_per_day_;
  level_ = std::max(0.0, level_ - leaked);
  leaked_at_ = now;
}

void WearMeter::add(std::uint64_t bytes, Nanos now) {
  leak(now);
  level_ += static_cast<double>(bytes);
  written_ += static_cast<double>(bytes);
}

bool WearMeter::exceeded(Nanos now) {
  if (allowed_per_day_ <= 0) return false;
  leak(now);
  exceeded_ = level_ > allowed_per_day_ * (exceeded_ ? kRecoveredShare : 1.0);
  return exceeded_;
}

double WearMeter::drive_writes_per_day(Nanos now) const {
  const double elapsed = span_ns(began_, now);
  return elapsed <= 0 ? 0 : written_ / capacity_ / (elapsed / kDayNs);
}

std::uint64_t WearMeter::level_bytes(Nanos now) {
  leak(now);
  return static_cast<std::uint64_t>(level_);
}

void FlashHealth::note(const block::Request& done) {
  if (done.done_bytes) {
    if (done.kind != block::RequestKind::kRead) write_failures_ = 0;
    return;
  }
  const Error& error = done.done_bytes.error();
  if (error.code == Errc::kGone) return enter(FlashMode::kGone, "the device is gone");
  if (done.kind == block::RequestKind::kRead) return;
  if (error.code == Errc::kNoSpace) {
    // EFBIG is not the device's word: the process may not write that far into a file.
    enter(FlashMode::kReadOnly, error.os == EFBIG ? "this process's file size limit (ulimit -f)"
                                                  : "the device has no space left");
  } else if (error.code == Errc::kReadOnly || error.code == Errc::kDenied) {
    enter(FlashMode::kReadOnly, "the device takes no writes");
  } else if (error.code == Errc::kExists) {
    enter(FlashMode::kReadOnly, "the device is another's now: " + to_string(error));
  } else if (error.code == Errc::kIo && ++write_failures_ >= kFailuresMax) {
    enter(FlashMode::kReadOnly, "writes keep failing: " + to_string(error));
  }
}

void FlashHealth::note_wear(bool exceeded) {
  if (exceeded == worn_) return;
  worn_ = exceeded;
  if (exceeded) {
    log_warn("flash: read-only: more was written than the wear limit allows");
  } else {
    log_info("flash: writes again: back under the wear limit");
  }
}

void FlashHealth::recover() {
  if (mode_ == FlashMode::kReadWrite) return;
  log_info("flash: the device is well again ({})", reason_);
  mode_ = FlashMode::kReadWrite;
  reason_.clear();
  write_failures_ = 0;
  for (const auto& callback : on_change_) callback();
}

void FlashHealth::stay(FlashMode mode, std::string reason) {
  mode_ = mode;
  reason_ = std::move(reason);
}

Status FlashHealth::may_write() const {
  if (mode_ == FlashMode::kReadWrite && worn_) return fail(Errc::kReadOnly, "flash: wear limit");
  return device_may_write();
}

Status FlashHealth::device_may_write() const {
  if (mode_ == FlashMode::kGone) return fail(Errc::kGone, "flash: the device is gone");
  if (mode_ == FlashMode::kReadOnly) return fail(Errc::kReadOnly, "flash: the tier is read-only");
  return {};
}

void FlashHealth::enter(FlashMode mode, std::string reason) {
  // Gone is the worse of the two; a refused write on the way out must not hide it.
  if (mode_ == mode || mode_ == FlashMode::kGone) return;
  mode_ = mode;
  reason_ = std::move(reason);
  log_warn("flash: {}: {}", mode == FlashMode::kGone ? "off" : "read-only", reason_);
  for (const auto& callback : on_change_) callback();
}

}  // namespace forebay::store

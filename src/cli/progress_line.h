// One line on a terminal that says how far long work is; nothing for work under a second.
//
// Silent with --quiet, with --json, and where standard error is no terminal. Threads: one owner.
#pragma once

#include <functional>
#include <string>

#include "cli/command.h"
#include "core/clock.h"

namespace forebay::cli {

class ProgressLine {
 public:
  explicit ProgressLine(const Invocation& call);
  ~ProgressLine() { wipe(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows text() when a second has passed since the last time.
  void show(const std::function<std::string()>& text);
  // Clears the line, so that what follows begins on an empty one.
  void wipe();

 private:
  SystemClock clock_;
  bool silent_;
  Nanos shown_at_ = clock_.now();
  bool shown_ = false;
};

}  // namespace forebay::cli

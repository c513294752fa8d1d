// Runs a program found by PATH and gathers what it prints on both streams.
//
// Blocks until the program ended; for benchmarks only. kNotFound: there is no such program.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace forebay::cli {

struct ChildOutput {
  int status = 0;  // as waitpid() tells it
  std::string text;
};
[[nodiscard]] Result<ChildOutput> run_program(const std::vector<std::string>& words);

// Starts it and goes on, its output thrown away; killed and waited for on destruction.
class BackgroundChild {
 public:
  [[nodiscard]] static Result<BackgroundChild> start(const std::vector<std::string>& words);
  BackgroundChild(BackgroundChild&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  BackgroundChild& operator=(BackgroundChild&&) = delete;
  ~BackgroundChild();

 private:
  explicit BackgroundChild(int pid) : pid_(pid) {}
  int pid_;
};

}  // namespace forebay::cli

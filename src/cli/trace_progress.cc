#include "cli/trace_progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/clock.h"

namespace forebay::cli {
namespace {

constexpr std::uint64_t kRequestsBetween = 256;  // looks at the clock
constexpr Nanos kInterval = std::chrono::seconds(1);

class ShownReader final : public workload::TraceReader {
 public:
  explicit ShownReader(std::unique_ptr<workload::TraceReader> inner) : inner_(std::move(inner)) {}
  ~ShownReader() override { wipe(); }
  ShownReader(const ShownReader&) = delete;
  ShownReader& operator=(const ShownReader&) = delete;

  Result<bool> next(workload::Request& request) override {
    auto more = inner_->next(request);
    if (!more.value_or(false)) {
      wipe();
    } else if (++count_ % kRequestsBetween == 0 && clock_.now() - shown_at_ >= kInterval) {
      fmt::print(stderr, "\rreading: {} requests", count_);
      std::fflush(stderr);
      shown_at_ = clock_.now();
      shown_ = true;
    }
    return more;
  }
  std::string_view format() const override { return inner_->format(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }
  std::uint64_t skipped_count() const override { return inner_->skipped_count(); }

 private:
  // Clears the line, so that what follows begins on an empty one.
  void wipe() {
    if (std::exchange(shown_, false)) fmt::print(stderr, "\r\033[K");
  }

  std::unique_ptr<workload::TraceReader> inner_;
  SystemClock clock_;
  Nanos shown_at_ = clock_.now();
  std::uint64_t count_ = 0;
  bool shown_ = false;
};

}  // namespace

std::unique_ptr<workload::TraceReader> with_progress(std::unique_ptr<workload::TraceReader> reader,
                                                     const Invocation& call) {
  if (call.quiet() || call.json() || ::isatty(STDERR_FILENO) == 0) return reader;
  return std::make_unique<ShownReader>(std::move(reader));
}

}  // namespace forebay::cli

#include "cli/trace_progress.h"

#include <fmt/core.h>

#include <utility>

#include "cli/progress_line.h"

namespace forebay::cli {
namespace {

constexpr std::uint64_t kRequestsBetween = 256;  // looks at the clock

class ShownReader final : public workload::TraceReader {
 public:
  ShownReader(std::unique_ptr<workload::TraceReader> inner, const Invocation& call)
      : inner_(std::move(inner)), line_(call) {}

  Result<bool> next(workload::Request& request) override {
    auto more = inner_->next(request);
    if (!more.value_or(false)) {
      line_.wipe();
    } else if (++count_ % kRequestsBetween == 0) {
      line_.show([this] { return fmt::format("reading: {} requests", count_); });
    }
    return more;
  }
  std::string_view format() const override { return inner_->format(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }
  std::uint64_t skipped_count() const override { return inner_->skipped_count(); }

 private:
  std::unique_ptr<workload::TraceReader> inner_;
  ProgressLine line_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<workload::TraceReader> with_progress(std::unique_ptr<workload::TraceReader> reader,
                                                     const Invocation& call) {
  return std::make_unique<ShownReader>(std::move(reader), call);
}

}  // namespace forebay::cli

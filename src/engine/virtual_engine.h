// Tests only: an io::Engine without files, whose clock jumps to wherever the loop would wait.
#pragma once

#include <algorithm>

#include "io/engine.h"

namespace forebay::engine {

class VirtualEngine final : public io::Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "virtual"; }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Result<io::FileId> open(const std::string&, const io::OpenOptions&) override {
    return fail(Errc::kUnsupported, "open");
  }
  [[nodiscard]] const io::FileFacts& facts(io::FileId) const override { return facts_; }
  [[nodiscard]] Status allocate(io::FileId, std::uint64_t) override { return {}; }
  void close(io::FileId) override {}
  [[nodiscard]] Result<io::FileId> listen(const void*, std::uint32_t) override {
    return fail(Errc::kUnsupported, "listen");
  }
  [[nodiscard]] Result<io::FileId> socket(int) override {
    return fail(Errc::kUnsupported, "socket");
  }
  [[nodiscard]] Result<std::uint16_t> local_port(io::FileId) const override {
    return fail(Errc::kUnsupported, "port");
  }
  [[nodiscard]] Status submit(io::Op&) override { return fail(Errc::kUnsupported, "submit"); }
  [[nodiscard]] std::size_t ops_max() const override { return 0; }
  void cancel(io::Op&) override {}
  std::size_t poll(Nanos wait) override {
    if (!woken_) clock_.advance(std::max(Nanos(0), wait));
    woken_ = false;
    return 0;
  }
  void wake() override { woken_ = true; }
  [[nodiscard]] Status register_buffers(std::span<const iovec>) override { return {}; }

 private:
  ManualClock clock_;
  io::FileFacts facts_;
  bool woken_ = false;
};

}  // namespace forebay::engine

// Fuzz target: what a controller answers while a host sets it up and watches its namespace.
// Whatever it says, what the host takes for facts is in range.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/bytes.h"
#include "nvme/initiator/namespace_watch.h"

namespace forebay::nvme::initiator {
namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// The next eight bytes are a result; where the command reads, a length and so many bytes of a page.
class Answers {
 public:
  explicit Answers(std::span<const std::byte> input) : input_(input) {}

  [[nodiscard]] bool over() const { return input_.empty(); }
  void give(QueueCommand& command) {
    command.result = take<std::uint64_t>();
    if (command.pieces.empty()) return;
    const iovec& page = command.pieces[0];
    const std::size_t size = std::min<std::size_t>(
        {take<std::uint16_t>(), page.iov_len, input_.size(), command.data_bytes});
    if (size != 0) std::memcpy(page.iov_base, input_.data(), size);
    input_ = input_.subspan(size);
  }

 private:
  template <class T>
  T take() {
    T value{};
    const std::size_t size = std::min(sizeof value, input_.size());
    if (size != 0) std::memcpy(&value, input_.data(), size);
    input_ = input_.subspan(size);
    return value;
  }
  std::span<const std::byte> input_;
};

void check_namespace(const ControllerFacts& facts) {
  must(facts.block_bytes >= 512 && facts.block_bytes <= 65536);
  must((facts.block_bytes & (facts.block_bytes - 1)) == 0);
  must(facts.block_count != 0 && facts.block_count <= ~std::uint64_t{0} / facts.block_bytes);
}

void check_controller(const ControllerFacts& facts) {
  must(facts.entries_max >= 2 && facts.entries_max <= 65536);
  must(facts.io_queues >= 1 && facts.io_queues <= 4);
  must(facts.transfer_bytes_max >= 4096 && facts.transfer_bytes_max <= 1 << 20);
  must(facts.abort_count_max >= 1 && facts.abort_count_max <= 256);
  must(facts.model.size() <= 40);
  check_namespace(facts);
}

void run(Answers& answers) {
  ControllerSetup setup({.controller_id = 1, .io_queues = 4});
  while (setup.state() != SetupState::kDone) {
    if (answers.over()) return;
    setup.prepare();
    answers.give(setup.command());
    if (!setup.take()) return;
  }
  check_controller(setup.facts());
  NamespaceWatch watch(1, setup.facts());
  while (watch.state() != WatchState::kOff && !answers.over()) {
    watch.prepare();
    answers.give(watch.command());
    if (watch.take() && watch.facts()) check_namespace(*watch.facts());
  }
}

}  // namespace
}  // namespace forebay::nvme::initiator

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forebay::nvme::initiator::Answers answers(std::as_bytes(std::span(data, size)));
  forebay::nvme::initiator::run(answers);
  return 0;
}

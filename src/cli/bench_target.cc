#include "cli/bench_target.h"

#include <fmt/core.h>
#include <pthread.h>
#include <time.h>

#include "cli/null_device.h"
#include "io/engine.h"
#include "nvme/target/target.h"

namespace forebay::cli {
namespace {

constexpr std::size_t kOpsMax = 4096;
constexpr const char* kNqn = "nqn.2026-12.org.forebay:bench";

}  // namespace

Result<std::unique_ptr<BenchTarget>> BenchTarget::start(
    const std::optional<nvme::tls::TlsKey>& key) {
  std::unique_ptr<BenchTarget> made(new BenchTarget());
  made->key_ = key;
  std::promise<Status> listening;
  auto heard = listening.get_future();
  made->thread_ = std::thread([target = made.get(), &listening] { target->serve(listening); });
  FOREBAY_TRY_STATUS(heard.get());
  return made;
}

void BenchTarget::serve(std::promise<Status>& listening) {
  const auto engine = io::make_engine(io::EngineChoice::kAuto, kOpsMax);
  if (!engine) return listening.set_value(std::unexpected(engine.error()));
  io::Loop loop(**engine);
  NullDevice device(loop);
  nvme::target::Target target(loop, {});
  target.add_subsystem(kNqn).add_namespace(1, device);
  target.set_tls_key(std::string(kHostNqn), key_);
  const auto mode = key_ ? nvme::tls::TlsMode::kRequired : nvme::tls::TlsMode::kOff;
  const auto port = target.listen("127.0.0.1", 0, mode);
  if (!port) return listening.set_value(std::unexpected(port.error()));
  port_ = *port;
  listening.set_value({});
  while (!stop_) loop.turn();
  loop.run(target.drain());
}

BenchTarget::~BenchTarget() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

std::string BenchTarget::url(std::string_view query) const {
  return fmt::format("nvme+tcp://127.0.0.1:{}/{}{}", port_.load(), kNqn, query);
}

Nanos BenchTarget::cpu_time() {
  clockid_t clock{};
  timespec used{};
  if (::pthread_getcpuclockid(thread_.native_handle(), &clock) != 0) return Nanos{0};
  if (::clock_gettime(clock, &used) != 0) return Nanos{0};
  return std::chrono::seconds(used.tv_sec) + Nanos(used.tv_nsec);
}

}  // namespace forebay::cli

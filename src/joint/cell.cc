#include "joint/cell.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "engine/op_ring.h"
#include "inventory/environment.h"
#include "joint/cell_rows.h"
#include "joint/prepare.h"

namespace forebay::joint {
namespace {

// How often a running cell looks for a stop and empties the backend's bounded op log.
constexpr Nanos kTick = std::chrono::milliseconds(20);
constexpr Nanos kTickVirtual = std::chrono::milliseconds(500);
// How long of true time a stopped cell may take to end by itself; then its device is cut off.
constexpr Nanos kStopGrace = std::chrono::seconds(1);
// Simulated time in which nothing gets on: more than any request takes at the rates a specification
// may name (docs/formats/joint-spec.md). Simulated, it passes within seconds.
constexpr Nanos kNothingMax = std::chrono::hours(24 * 7);

class Cell {
 public:
  Cell(const CellPlan& plan, io::Loop* loop)
      : plan_(plan),
        loop_(loop),
        arm_(plan.spec->arms[plan.arm]),
        key_{static_cast<std::int64_t>(plan.variant), static_cast<std::int64_t>(plan.round),
             static_cast<std::int64_t>(plan.arm)},
        rig_(loop, &meter_, rig_options(plan)) {}

  Task<CellResult> run();

 private:
  static RigOptions rig_options(const CellPlan& plan);
  Task<std::string> open_and_prepare();
  [[nodiscard]] std::string lost_flash(const store::StoreStats& stats) const;
  Task<void> run_engine();
  void tick();
  void watch();
  void watch_stop();
  void watch_progress();
  void take_ops();
  void take_traffic();
  [[nodiscard]] bool stopped() const { return plan_.stop != nullptr && plan_.stop->load(); }

  const CellPlan& plan_;
  io::Loop* loop_;
  const ArmSpec& arm_;
  CellKey key_;
  DeviceMeter meter_;
  TrafficMeter dram_;
  TrafficMeter files_;
  Rig rig_;
  CancelSource cancel_;
  io::Loop::Timer timer_;
  io::Loop::Timer watch_timer_;
  SystemClock true_clock_;
  std::optional<Nanos> stop_seen_;  // on the true clock
  bool cut_by_stop_ = false;
  bool serving_ = false;  // requests arrive at their own times: it may wait for them
  std::uint64_t ended_seen_ = 0;
  Nanos ended_seen_at_{0};
  std::string stuck_;  // why the cell was given up; "": it was not
  Nanos origin_{0};
  engine::NewestRing<report::OpRow, kOpRowsMax> ops_;
  std::uint64_t dropped_before_ = 0;  // by the backend's own ring, while it was prepared
  CellResult result_;
};

RigOptions Cell::rig_options(const CellPlan& plan) {
  return {.arm = &plan.spec->arms[plan.arm],
          .device = plan.device,
          .folder = plan.folder,
          .scale = plan.spec->run.scale,
          .seed = plan.spec->run.seed,
          .space = plan.setup->options.space};
}

Task<std::string> Cell::open_and_prepare() {
  if (std::string failed = co_await rig_.open(); !failed.empty()) co_return failed;
  result_.detail = rig_.detail();
  if (!plan_.spec->run.prepare || arm_.kind == "recompute") co_return "";
  const Prepared prepared =
      co_await prepare_store(plan_.requests, &rig_.backend(), &plan_.setup->options, plan_.stop);
  if (!prepared.status) co_return "prepare: " + to_string(prepared.status.error());
  result_.cell.prepared_blocks = static_cast<std::int64_t>(prepared.blocks);
  (void)rig_.backend().take_ops();
  if (!plan_.spec->run.restart || stopped()) co_return "";
  co_await rig_.close();
  co_return co_await rig_.open();
}

void Cell::take_ops() {
  for (const engine::KvOp& op : rig_.backend().take_ops()) {
    const std::uint64_t read = op.write ? 0 : op.bytes;
    const std::uint64_t written = op.write ? op.bytes : 0;
    if (op.tier == store::Tier::kDram) dram_.add(op.end - origin_, read, written);
    // The device below a store is metered itself; files have no device of ours.
    if (op.tier == store::Tier::kFlash && arm_.kind == "files") {
      files_.add(op.end - origin_, read, written);
    }
    ops_.add(to_row(key_, op, origin_));
  }
}

void Cell::tick() {
  take_ops();
  if (stopped()) {
    cancel_.cancel();
    return;
  }
  loop_->arm(timer_, loop_->now() + (plan_.virtual_disk ? kTickVirtual : kTick),
             [this] { tick(); });
}

// Beside everything that a cell does, opening and closing included.
void Cell::watch() {
  if (stopped()) watch_stop();
  if (plan_.virtual_disk) watch_progress();
  loop_->arm(watch_timer_, loop_->now() + (plan_.virtual_disk ? kTickVirtual : kTick),
             [this] { watch(); });
}

void Cell::watch_stop() {
  if (!stop_seen_) stop_seen_ = true_clock_.now();
  if (cut_by_stop_ || true_clock_.now() - *stop_seen_ < kStopGrace) return;
  cut_by_stop_ = true;
  rig_.cut();
}

void Cell::watch_progress() {
  const bool waits_for_work = serving_ && meter_.in_flight_requests == 0;
  if (meter_.ended_requests != ended_seen_ || waits_for_work || ended_seen_at_ == Nanos{0}) {
    ended_seen_ = meter_.ended_requests;
    ended_seen_at_ = loop_->now();
  }
  if (!stuck_.empty() || loop_->now() - ended_seen_at_ < kNothingMax) return;
  stuck_ = fmt::format(
      "nothing got on for {} days of simulated time with {} requests at its device: raise "
      "`bytes_per_second` or `operations_per_second`, or lower `scale`",
      std::chrono::duration_cast<std::chrono::hours>(kNothingMax).count() / 24,
      meter_.in_flight_requests);
  rig_.cut();
  cancel_.cancel();
}

void Cell::take_traffic() {
  const TrafficMeter& flash = arm_.kind == "files" ? files_ : meter_.traffic;
  append_traffic(key_, store::Tier::kDram, dram_, result_.traffic);
  append_traffic(key_, store::Tier::kFlash, flash, result_.traffic);
  result_.cell.device_read_bytes = static_cast<std::int64_t>(flash.total().read_bytes);
  result_.cell.device_written_bytes = static_cast<std::int64_t>(flash.total().written_bytes);
}

// An arm whose flash went while it ran was another arm from then on.
std::string Cell::lost_flash(const store::StoreStats& stats) const {
  if (arm_.kind != "forebay" || stats.flash.mode == store::FlashMode::kReadWrite) return "";
  return fmt::format("its flash is {} at the end: {}", to_string(stats.flash.mode),
                     stats.flash.mode_reason);
}

Task<void> Cell::run_engine() {
  dropped_before_ = rig_.backend().dropped_ops();
  origin_ = loop_->now();
  meter_.origin = origin_;
  tick();
  serving_ = true;
  engine::EngineOptions options = plan_.setup->options;
  const engine::EngineResult run = co_await engine::run_emulated(
      loop_, plan_.requests, &rig_.backend(), std::move(options), &cancel_, plan_.on_progress);
  timer_.cancel();
  serving_ = false;
  if (!run.status) {
    result_.failure = "engine: " + to_string(run.status.error());
    co_return;
  }
  if (!cancel_.cancelled()) co_await rig_.backend().drain();
  take_ops();
  result_.ops = ops_.take();
  result_.cell.ops_dropped = static_cast<std::int64_t>(
      ops_.dropped_count() + rig_.backend().dropped_ops() - dropped_before_);
  take_traffic();
  take_engine_figures(run, result_.cell);
  result_.store = rig_.backend().stats();
  if (!cancel_.cancelled()) result_.failure = lost_flash(*result_.store);
  take_store_figures(*result_.store, result_.cell);
  const std::int64_t warm_up_ns = std::llround(plan_.spec->run.warm_up_s * 1e9);
  for (const engine::RequestRecord& record : run.records) {
    result_.requests.push_back(to_row(key_, record, warm_up_ns));
  }
}

Task<CellResult> Cell::run() {
  result_.cell.variant = key_.variant;
  result_.cell.round = key_.round;
  result_.cell.arm = key_.arm;
  result_.cell.position = static_cast<std::int64_t>(plan_.position);
  watch();
  result_.failure = co_await open_and_prepare();
  if (result_.failure.empty() && !stopped()) co_await run_engine();
  co_await rig_.close();
  watch_timer_.cancel();
  if (cut_by_stop_) result_.failure.clear();  // that is why
  if (!stuck_.empty()) result_.failure = stuck_;
  const report::CellState state = !result_.failure.empty() ? report::CellState::kFailed
                                  : stopped()              ? report::CellState::kPartial
                                                           : report::CellState::kComplete;
  result_.cell.state = static_cast<std::int64_t>(state);
  co_return std::move(result_);
}

CellResult run_virtual(const CellPlan& plan) {
  io::SimEngine engine(virtual_disk_options(*plan.spec, plan.round), plan.virtual_disk);
  io::Loop loop(engine);
  Cell cell(plan, &loop);
  CellResult result = loop.run(cell.run());
  // CPU time is this machine's and would make equal runs differ.
  result.cell.emulator_cpu_ns = 0;
  result.cell.disk_read_bytes = -1;
  result.cell.disk_written_bytes = -1;
  return result;
}

CellResult run_real(const CellPlan& plan) {
  auto engine = io::make_engine(io::EngineChoice::kAuto);
  if (!engine) {
    CellResult result;
    result.failure = "io engine: " + to_string(engine.error());
    return result;
  }
  io::Loop loop(**engine);
  const std::string& disk_path = plan.device.empty() ? plan.folder : plan.device;
  const auto disk_before = inventory::read_disk_counters(disk_path);
  const Nanos cpu_before = process_cpu_time();
  Cell cell(plan, &loop);
  CellResult result = loop.run(cell.run());
  result.cell.process_cpu_ns = (process_cpu_time() - cpu_before).count();
  const auto disk_after = inventory::read_disk_counters(disk_path);
  const bool known = disk_before && disk_after;
  result.cell.disk_read_bytes =
      known ? static_cast<std::int64_t>(disk_after->read_bytes - disk_before->read_bytes) : -1;
  result.cell.disk_written_bytes =
      known ? static_cast<std::int64_t>(disk_after->written_bytes - disk_before->written_bytes)
            : -1;
  return result;
}

}  // namespace

io::SimOptions virtual_disk_options(const Spec& spec, std::uint64_t round) {
  return {.seed = mix64(spec.run.seed + round)};
}

CellResult run_cell(const CellPlan& plan) {
  return plan.virtual_disk ? run_virtual(plan) : run_real(plan);
}

}  // namespace forebay::joint

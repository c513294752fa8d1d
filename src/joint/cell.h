// One arm in one round: opened, prepared, run, drained, closed, and turned into rows of the logs.
//
// In true time each cell has an io engine and a loop of its own; in virtual time a simulated engine
// over a disk that the caller keeps. Blocks until the cell ended. Threads: the caller's, plus those
// of the io engine. Errors: CellResult::failure, in words; the rows that exist are kept.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/sim.h"
#include "io/sim_disk.h"
#include "joint/engine_setup.h"
#include "joint/rig.h"
#include "joint/spec.h"
#include "report/rows.h"
#include "workload/request.h"

namespace forebay::joint {

struct CellPlan {
  const Spec* spec = nullptr;
  const EngineSetup* setup = nullptr;
  std::span<const workload::Request> requests;
  std::size_t arm = 0;
  std::uint64_t round = 0;
  std::size_t position = 0;
  std::size_t variant = 0;
  std::string device;                         // of an arm with flash
  std::string folder;                         // of an arm of files
  std::shared_ptr<io::SimDisk> virtual_disk;  // virtual time only
  const std::atomic<bool>* stop = nullptr;    // may be null
  std::function<void(std::size_t requests_done)> on_progress;
};

struct CellResult {
  report::CellRow cell;
  std::vector<report::RequestRow> requests;
  std::vector<report::OpRow> ops;
  std::vector<report::TrafficRow> traffic;
  std::optional<store::StoreStats> store;  // at the end; nothing: it did not get there
  std::string detail;                      // of the rig
  std::string failure;                     // why it could not run; "": it did
};

[[nodiscard]] CellResult run_cell(const CellPlan& plan);
// The disk and clock of a cell in virtual time.
[[nodiscard]] io::SimOptions virtual_disk_options(const Spec& spec, std::uint64_t round);

inline constexpr std::size_t kOpRowsMax = std::size_t{1} << 18;  // of one cell: its newest

}  // namespace forebay::joint

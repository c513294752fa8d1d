#include "joint/runner.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "config/resolve_path.h"
#include "core/log.h"
#include "core/version.h"
#include "inventory/environment.h"
#include "io/folder_lock.h"
#include "joint/case.h"
#include "joint/cell.h"
#include "joint/device_check.h"
#include "joint/facts.h"
#include "joint/late_repeats.h"
#include "joint/limits.h"
#include "joint/schedule.h"
#include "joint/sensitivity.h"
#include "report/checks.h"
#include "report/html.h"
#include "report/pace.h"

namespace forebay::joint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDidNotEnd = "the run did not end";
constexpr const char* kStopped = "stopped by a signal";

std::string first_of(const Diagnostics& mistakes) {
  const Diagnostic& first = mistakes.kept().front();
  return fmt::format("{}: {}", first.place, first.message);
}

class Runner {
 public:
  Runner(const JointOptions& options, report::FolderWriter folder, std::size_t cells_total,
         std::uint64_t repeats_max)
      : options_(options), folder_(std::move(folder)), repeats_(repeats_max) {
    progress_.cells_total = cells_total;
    start_ = clock_.now();
  }

  void run_case(Case& test, std::size_t variant);
  [[nodiscard]] bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  [[nodiscard]] report::RunFacts& facts() { return facts_; }
  [[nodiscard]] const report::FolderWriter& folder() const { return folder_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const std::optional<store::StoreStats>& candidate_store() const {
    return candidate_store_;
  }
  void write(std::string_view file, const std::string& text) {
    keep(file, folder_.write(file, text));
  }
  void seal() { keep(report::kSumsFile, report::seal_folder(folder_)); }
  void remove_stores(const Spec& spec) const;

 private:
  [[nodiscard]] std::string store_folder(const Spec& spec) const;
  [[nodiscard]] CellPlan plan_of(const Case& test, const Turn& turn, std::size_t variant) const;
  void run_turn(const Case& test, const Turn& turn, std::size_t variant);
  [[nodiscard]] CellResult run_attempt(const Case& test, const Turn& turn, std::size_t variant);
  [[nodiscard]] bool done_again(const Spec& spec, CellResult& result, std::uint64_t attempt);
  void log_cell(const CellResult& result);
  void report_progress(const Case& test, const Turn& turn, std::size_t requests_done);
  void keep(std::string_view file, const Status& status) {
    if (status || !failure_.empty()) return;
    failure_ = fmt::format("{}: {}", folder_.path_of(file), to_string(status.error()));
  }

  const JointOptions& options_;
  report::FolderWriter folder_;
  report::RunFacts facts_;
  std::vector<std::shared_ptr<io::SimDisk>> kept_disks_;  // by arm, virtual time
  std::vector<bool> broken_;                              // arms that failed in this case
  LateRepeats repeats_;
  SystemClock clock_;
  Nanos start_{0};
  Progress progress_;
  std::int64_t virtual_start_ns_ = 0;
  std::string failure_;
  std::optional<store::StoreStats> candidate_store_;
};

std::string Runner::store_folder(const Spec& spec) const {
  return spec.storage.path.empty() ? folder_.path_of("stores") : spec.storage.path;
}

void Runner::remove_stores(const Spec& spec) const {
  if (!spec.storage.path.empty()) return;
  std::error_code ignored;
  fs::remove_all(store_folder(spec), ignored);
}

void Runner::run_case(Case& test, std::size_t variant) {
  broken_.assign(test.spec.arms.size(), false);
  kept_disks_.assign(test.spec.arms.size(), nullptr);
  for (const Turn& turn :
       schedule(test.spec.arms.size(), test.spec.run.rounds, test.spec.run.seed)) {
    if (stopped() || !failure_.empty()) return;
    Diagnostics mistakes;
    if (!move_to_round(test, turn.round, options_.source.file, mistakes)) {
      failure_ = first_of(mistakes);
      return;
    }
    const bool skipped = skip_reason(test.spec, test.spec.arms[turn.arm]) != "";
    if (!skipped && !broken_[turn.arm]) run_turn(test, turn, variant);
    ++progress_.cells_done;
  }
}

CellPlan Runner::plan_of(const Case& test, const Turn& turn, std::size_t variant) const {
  const ArmSpec& arm = test.spec.arms[turn.arm];
  CellPlan plan;
  plan.spec = &test.spec;
  plan.setup = &test.setup;
  plan.requests = test.workload.requests;
  plan.arm = turn.arm;
  plan.round = turn.round;
  plan.position = turn.position;
  plan.variant = variant;
  plan.stop = options_.stop;
  const std::string folder = store_folder(test.spec);
  if (arm.kind == "forebay") {
    const bool named = !test.spec.storage.device.empty() && !test.spec.run.virtual_time;
    plan.device = named ? test.spec.storage.device : fmt::format("{}/{}.flash", folder, arm.name);
  }
  if (arm.kind == "files") plan.folder = fmt::format("{}/{}.files", folder, arm.name);
  return plan;
}

CellResult Runner::run_attempt(const Case& test, const Turn& turn, std::size_t variant) {
  CellPlan plan = plan_of(test, turn, variant);
  const bool fresh = test.spec.run.state == "fresh";
  std::error_code ignored;
  if (test.spec.run.virtual_time) {
    auto& disk = kept_disks_[turn.arm];
    if (fresh || !disk) disk = std::make_shared<io::SimDisk>();
    plan.virtual_disk = disk;
  } else {
    fs::create_directories(store_folder(test.spec), ignored);
    if (fresh) fs::remove_all(plan.device.empty() ? plan.folder : plan.device, ignored);
  }
  report_progress(test, turn, 0);
  plan.on_progress = [&](std::size_t done) { report_progress(test, turn, done); };
  CellResult result = run_cell(plan);
  result.cell.start_ns =
      test.spec.run.virtual_time
          ? std::exchange(virtual_start_ns_, virtual_start_ns_ + result.cell.span_ns)
          : (clock_.now() - start_).count() - result.cell.span_ns;
  if (fresh) {
    kept_disks_[turn.arm].reset();
    if (!test.spec.run.virtual_time) {
      fs::remove_all(plan.device.empty() ? plan.folder : plan.device, ignored);
    }
  }
  return result;
}

// A complete cell without any other fault that the machine did not keep up with. A kept store has
// seen the requests by now: there the second attempt would be another test.
bool Runner::done_again(const Spec& spec, CellResult& result, std::uint64_t attempt) {
  if (spec.run.virtual_time || spec.run.state == "kept" || stopped()) return false;
  if (!result.cell.complete() || report::has_fault(result.cell, result.requests)) return false;
  const report::Pace pace = report::pace_of(result.cell, std::span(std::as_const(result.requests)));
  if (!report::is_late(pace, facts_.thresholds) || !repeats_.take(attempt)) return false;
  result.cell.attempt = static_cast<std::int64_t>(attempt);
  for (report::RequestRow& row : result.requests) row.attempt = result.cell.attempt;
  keep(report::kLateCellsFile,
       folder_.append_late(result.requests, result.cell, facts_.arm_names()));
  return true;
}

void Runner::run_turn(const Case& test, const Turn& turn, std::size_t variant) {
  CellResult result = run_attempt(test, turn, variant);
  for (std::uint64_t attempt = 1; done_again(test.spec, result, attempt); ++attempt) {
    result = run_attempt(test, turn, variant);
  }
  if (!result.failure.empty()) {
    broken_[turn.arm] = true;
    facts_.notes.push_back(fmt::format("arm {} failed in round {}: {}",
                                       test.spec.arms[turn.arm].name, turn.round + 1,
                                       result.failure));
    log_warn("{}", facts_.notes.back());
  }
  if (variant == 0 && !result.detail.empty()) facts_.arms[turn.arm].detail = result.detail;
  if (variant == 0 && facts_.arms[turn.arm].name == facts_.candidate && result.store) {
    candidate_store_ = std::move(result.store);
  }
  log_cell(result);
}

// The cell's own row comes last: without it the others do not count, so a kill in between leaves a
// result that is consistent.
void Runner::log_cell(const CellResult& result) {
  const auto names = facts_.arm_names();
  keep(report::kRequestsFile,
       folder_.append(std::span<const report::RequestRow>(result.requests), names));
  keep(report::kOpsFile, folder_.append(std::span<const report::OpRow>(result.ops), names));
  keep(report::kTrafficFile,
       folder_.append(std::span<const report::TrafficRow>(result.traffic), names));
  keep(report::kCellsFile, folder_.append(std::span(&result.cell, 1), names));
}

void Runner::report_progress(const Case& test, const Turn& turn, std::size_t requests_done) {
  if (!options_.on_progress) return;
  progress_.arm = test.spec.arms[turn.arm].name;
  progress_.round = turn.round;
  progress_.requests_done = requests_done;
  progress_.requests_total = test.workload.requests.size();
  progress_.elapsed = clock_.now() - start_;
  const double part = static_cast<double>(requests_done) /
                      static_cast<double>(std::max<std::size_t>(1, progress_.requests_total));
  const double done = static_cast<double>(progress_.cells_done) + part;
  const double total = static_cast<double>(progress_.cells_total);
  // Before there is anything to go by, the workload's own length is the guess.
  const double span_ns = static_cast<double>(test.workload.requests.back().arrival_ns);
  const double per_cell =
      done > 0.1 ? static_cast<double>(progress_.elapsed.count()) / done : span_ns;
  progress_.left = Nanos(static_cast<std::int64_t>(per_cell * std::max(0.0, total - done)));
  options_.on_progress(progress_);
}

struct OutputFolder {
  std::string wanted;
  bool exact;  // the user named it just now: never another one instead
};

OutputFolder output_folder(const Spec& spec, const JointOptions& options) {
  if (!options.output.empty()) return {options.output, true};
  return {spec.run.output.empty() ? fmt::format("out/{}", spec.run.name) : spec.run.output, false};
}

std::optional<report::FolderWriter> make_folder(const OutputFolder& output, Diagnostics& mistakes) {
  auto folder = output.exact ? report::FolderWriter::create(output.wanted)
                             : report::FolderWriter::create_free(output.wanted);
  if (folder) return std::move(*folder);
  mistakes.add(output.exact ? "--output" : output.wanted,
               fmt::format("{}: {}", output.wanted, to_string(folder.error())),
               folder.error().code == Errc::kExists ? "name another folder" : "");
  return std::nullopt;
}

// The folder of the stores is this run's alone while it lasts: another would delete its stores.
std::optional<io::FolderLock> claim_stores(const Spec& spec, Diagnostics& mistakes) {
  const std::string& path = spec.storage.path;
  if (path.empty() || spec.run.virtual_time) return std::nullopt;
  std::error_code ignored;
  fs::create_directories(path, ignored);
  auto lock = io::FolderLock::take(path);
  if (lock) return std::move(*lock);
  if (lock.error().code == Errc::kExists) {
    const auto holder = io::FolderLock::holder(path);
    mistakes.add(path,
                 fmt::format("another run{} keeps its stores in this folder ([storage] `path`)",
                             holder ? fmt::format(" (process {})", *holder) : ""),
                 "wait until it has ended, or name another `path`: --set storage.path=DIR");
  } else {
    mistakes.add(path,
                 fmt::format("cannot hold stores ([storage] `path`): {}", to_string(lock.error())),
                 "name a folder that can be written");
  }
  return std::nullopt;
}

// `spec` as it is read from a file in `folder`: its trace lies where it lay.
Spec seen_from(const std::string& folder, Spec spec, const std::string& spec_file) {
  if (spec.workload.file.empty()) return spec;
  std::error_code error;
  const std::string path = config::resolve_path(spec_file, spec.workload.file);
  const fs::path relative = fs::absolute(path, error)
                                .lexically_normal()
                                .lexically_relative(fs::absolute(folder, error).lexically_normal());
  if (!error && !relative.empty()) spec.workload.file = relative.string();
  return spec;
}

// Summary and report from what the folder really holds, as `report show` will read it.
void finish(Runner& runner, RunOutcome& outcome, const std::string& environment) {
  runner.write(report::kFactsFile, report::facts_to_json(runner.facts()));
  Diagnostics unreadable;
  const auto log = report::read_folder(runner.folder().path(), unreadable);
  outcome.folder = runner.folder().path();
  outcome.facts = runner.facts();
  outcome.candidate_store = runner.candidate_store();
  outcome.failure = runner.failure();
  if (!log) {
    if (outcome.failure.empty()) outcome.failure = first_of(unreadable);
    return;
  }
  outcome.summary = report::summarise(*log);
  runner.write(report::kSummaryFile, report::summary_to_json(outcome.summary, log->facts));
  runner.write(report::kHtmlFile, report::html_report(*log, outcome.summary, environment));
  runner.seal();
  outcome.failure = runner.failure();
  if (!outcome.failure.empty() && outcome.summary.partial.empty()) {
    outcome.summary.partial = "not all of the result could be written";
  }
}

}  // namespace

std::optional<RunOutcome> run_joint(const Spec& spec, const JointOptions& options,
                                    Diagnostics& mistakes) {
  const std::string& file = options.source.file;
  auto test = load_case(spec, file, mistakes);
  std::vector<VariantSpec> variants = variant_specs(spec, options.source, mistakes);
  if (!test) return std::nullopt;
  const OutputFolder output = output_folder(spec, options);
  check_limits(spec, needs_of(spec, test->setup, test->workload.working_set_tokens),
               spec.storage.path.empty() ? output.wanted : spec.storage.path, mistakes);
  check_device(spec, file, mistakes);
  if (!mistakes.empty()) return std::nullopt;
  const auto stores = claim_stores(spec, mistakes);
  if (!mistakes.empty()) return std::nullopt;
  auto folder = make_folder(output, mistakes);
  if (!folder) return std::nullopt;
  const std::string path = folder->path();

  const std::size_t cells = spec.arms.size() * (spec.run.rounds + variants.size());
  Runner runner(options, std::move(*folder), cells, spec.run.late_repeats);
  runner.facts() = declare_facts(test->spec, test->setup, test->workload);
  runner.facts().partial = kDidNotEnd;
  for (const VariantSpec& variant : variants) runner.facts().variants.push_back(variant.variant);
  const std::string environment = inventory::environment_to_json(
      {inventory::capture_machine(), inventory::capture_storage(path)}, std::string(version()));
  runner.write(report::kSpecFile, spec_to_toml(seen_from(path, spec, file)));
  runner.write(report::kEnvironmentFile, environment);
  runner.write(report::kFactsFile, report::facts_to_json(runner.facts()));

  runner.run_case(*test, 0);
  for (std::size_t v = 0; v < variants.size() && !runner.stopped(); ++v) {
    auto changed = load_case(variants[v].spec, file, mistakes);
    if (changed) runner.run_case(*changed, v + 1);
  }
  runner.remove_stores(spec);
  runner.facts().partial = runner.stopped() ? kStopped : "";
  RunOutcome outcome;
  outcome.taken = path == output.wanted ? "" : output.wanted;
  finish(runner, outcome, environment);
  return outcome;
}

}  // namespace forebay::joint

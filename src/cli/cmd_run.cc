// `forebay run SPEC.toml`: the joint test, from a specification to a result folder with its report.
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "cli/byte_file.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/result_code.h"
#include "cli/standard_error.h"
#include "joint/run_metrics.h"
#include "joint/runner.h"
#include "report/text.h"

namespace forebay::cli {
namespace {

// Set by the first signal; one that comes later, and no echo of it, ends the process at once.
std::atomic<bool> stop_wanted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
// timeout(1), and a shell whose whole group is told, send the same signal twice in one moment.
constexpr Nanos kEchoTime = std::chrono::milliseconds(500);
std::atomic<std::int64_t> first_signal_ns{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // as a signal handler may
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int number) {
  const std::int64_t now = monotonic_ns();
  std::int64_t first = 0;
  if (first_signal_ns.compare_exchange_strong(first, now)) stop_wanted.store(true);
  if (first == 0 || now - first < kEchoTime.count()) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void listen_for_signals() {
  stop_wanted.store(false);
  first_signal_ns.store(0);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  // A terminal that went away; nohup(1) has it ignored.
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

std::string minutes(Nanos span) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(span).count();
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

// One line that is written over, on a terminal only; ten times a second at most.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : shown_(wanted && isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const joint::Progress& progress) {
    if (!shown_ || (progress.elapsed - last_ < std::chrono::milliseconds(100) && drawn_)) return;
    last_ = progress.elapsed;
    drawn_ = true;
    fmt::print(stderr,
               "\r\x1b[K{}/{} cells: {}, round {}, {} of {} requests, {} gone, about {} left",
               progress.cells_done, progress.cells_total, progress.arm, progress.round + 1,
               progress.requests_done, progress.requests_total, minutes(progress.elapsed),
               minutes(progress.left));
    std::fflush(stderr);
  }
  void clear() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
    drawn_ = false;
  }

 private:
  bool shown_;
  bool drawn_ = false;
  Nanos last_{0};
};

// The flags that stand for keys of the spec come after --set, so the shorter way wins.
std::vector<std::string> sets_of(const Invocation& call) {
  std::vector<std::string> sets;
  const std::string set = call.text("--set");
  for (std::size_t at = 0; at < set.size();) {
    const std::size_t end = std::min(set.find(';', at), set.size());
    if (end > at) sets.push_back(set.substr(at, end - at));
    at = end + 1;
  }
  if (call.has("--rounds")) sets.push_back(fmt::format("run.rounds={}", call.count("--rounds")));
  if (call.has("--requests")) {
    sets.push_back(fmt::format("run.requests={}", call.count("--requests")));
  }
  if (call.has("--virtual")) sets.push_back("run.virtual=true");
  return sets;
}

int exit_code(const joint::RunOutcome& outcome) {
  return outcome.failure.empty() ? result_code(outcome.summary) : kExitFailed;
}

// Said before a long run, not after it.
void check_metrics(const Invocation& call) {
  const std::string path = call.text("--metrics");
  if (path.empty()) {
    if (call.has("--metrics")) call.mistakes().add("--metrics", "names no file");
    return;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    call.mistakes().add("--metrics", fmt::format("{}: is a folder", path), "name a file in it");
    return;
  }
  if (std::filesystem::equivalent(path, call.arguments()[0], ignored)) {
    call.mistakes().add("--metrics", "is the specification", "name another file");
    return;
  }
  const auto folder = std::filesystem::path(path).parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
  call.mistakes().add("--metrics", fmt::format("{}: the folder is not there", folder.string()),
                      "make it, or name another file");
}

// A link stays a link, and a device or a pipe what it is.
Status write_file(const std::string& path, const std::string& text) {
  FOREBAY_TRY(sink, ByteSink::open(path));
  FOREBAY_TRY_STATUS(sink.write(std::as_bytes(std::span(text))));
  return sink.commit();
}

bool write_metrics(const Invocation& call, const joint::RunOutcome& outcome) {
  const std::string path = call.text("--metrics");
  if (path.empty()) return true;
  const auto written = write_file(path, joint::run_metrics(outcome));
  if (!written) tell("--metrics: {}: {}\n", path, to_string(written.error()));
  return written.has_value();
}

int run(const Invocation& call) {
  joint::JointOptions options;
  options.source.file = call.arguments()[0];
  options.output = call.text("--output");
  if (call.has("--output") && options.output.empty()) {
    call.mistakes().add("--output", "names no folder", "leave it out, or name one");
  }
  options.source.sets = sets_of(call);
  if (const auto text = report::read_text_up_to(options.source.file, joint::kSpecBytesMax)) {
    options.source.text = *text;
  } else {
    call.mistakes().add(options.source.file,
                        fmt::format("cannot be read: {}", to_string(text.error())));
  }
  check_metrics(call);
  if (const auto refused = call.refuse()) return *refused;
  const auto spec = joint::read_spec(options.source, call.mistakes());
  if (!spec) return *call.refuse();

  listen_for_signals();
  ProgressLine line(!call.quiet() && !call.json());
  options.stop = &stop_wanted;
  options.on_progress = [&line](const joint::Progress& progress) { line.show(progress); };
  const auto outcome = joint::run_joint(*spec, options, call.mistakes());
  line.clear();
  if (!outcome) return call.refuse().value_or(kExitFailed);
  if (!outcome->failure.empty()) tell("forebay run: {}\n", outcome->failure);
  const bool metrics_written = write_metrics(call, *outcome);
  if (call.json()) {
    auto json =
        nlohmann::ordered_json::parse(report::summary_to_json(outcome->summary, outcome->facts));
    json["folder"] = outcome->folder;
    json["failure"] = outcome->failure;
    fmt::print("{}\n", json_text(json));
  } else {
    fmt::print("{}", report::text_report(outcome->facts, outcome->summary));
    if (!outcome->taken.empty()) {
      fmt::print("{} holds an earlier result, which stays as it is\n", outcome->taken);
    }
    if (outcome->failure.empty()) {
      fmt::print("check it: forebay report show {0}\nreport: {0}/{1}\n", outcome->folder,
                 report::kHtmlFile);
    } else {
      fmt::print("no report: what was written is in {}\n", outcome->folder);
    }
  }
  return metrics_written ? exit_code(*outcome) : kExitFailed;
}

constexpr std::array<Flag, 6> kFlags{{
    {"--output", "DIR", "", "folder of the result (default: the spec's, or out/<name>)"},
    {"--metrics", "FILE", "", "write the outcome as Prometheus reads it, at the end, in one step"},
    {"--rounds", "COUNT", "", "run.rounds: times that every arm runs"},
    {"--requests", "COUNT", "", "run.requests: only the first of the workload"},
    {"--virtual", "", "", "run.virtual: simulated clock and disk, deterministic"},
    {"--set", "KEY=VALUE", "", "any key of the spec, such as run.warm_up_s=2; may be given again",
     true},
}};

}  // namespace

const Command kRunCommand{
    .name = "run",
    .arguments = "SPEC.toml",
    .summary = "the joint test: arms side by side under one workload, with a report",
    .details =
        "Runs every arm of the specification in every round, in seeded order, and writes a result "
        "folder: raw logs, summary.json and report.html. docs/formats/joint-spec.md lists the "
        "keys. Ctrl-C leaves a valid partial report (a second one leaves none). Exit codes: 0 "
        "done; 1 failed, or invalid by wrong bytes, failed requests or an arm that could not "
        "run; 2 the specification is wrong; 3 inconclusive: stopped early, or invalid only since "
        "requests or steps were late.",
    .flags = kFlags,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run};

}  // namespace forebay::cli

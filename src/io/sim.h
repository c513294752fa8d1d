// The simulated engine: a seeded disk and loopback network in virtual time, deterministic.
//
// poll() moves the clock to the next event instead of waiting, so a day runs in seconds and one
// seed reproduces every interleaving. Latency is base + jitter + bytes over rate, one transfer at a
// time on the wire; jitter reorders completions. Faults are rules (io/sim_faults.h); power_cut() is
// a crash.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "core/rng.h"
#include "io/engine.h"
#include "io/sim_disk.h"
#include "io/sim_faults.h"

namespace forebay::io {

struct SimOptions {
  std::uint64_t seed = 1;
  std::size_t ops_max = 1024;
  Nanos latency{80'000};          // of any file operation
  Nanos jitter{20'000};           // uniform, on top
  double bytes_per_second = 3e9;  // 0: infinite
  std::uint32_t transfer_bytes_max = 16 << 20;
  std::size_t stream_bytes_max = ~std::size_t{0};  // sent on a socket and not received yet
  Nanos start{1'000'000'000};                      // what the clock says first
};

class SimEngine final : public Engine {
 public:
  explicit SimEngine(SimOptions options, std::shared_ptr<SimDisk> disk = nullptr);
  ~SimEngine() override;

  [[nodiscard]] SimDisk& disk() { return *disk_; }
  [[nodiscard]] std::shared_ptr<SimDisk> share_disk() const { return disk_; }
  [[nodiscard]] FaultRules& faults() { return faults_; }
  // Everything fails with kGone until it returns; operations in flight too.
  void set_vanished(bool vanished);
  // Stuck operations complete now, with their true outcome.
  void release_stuck();
  // The power goes after this many more writes have started: that write and all in flight may land
  // whole, in part or not at all; the disk is crashed; everything after fails with kGone.
  void cut_power_after_writes(std::uint64_t writes) { writes_until_cut_ = writes + 1; }
  [[nodiscard]] bool power_is_cut() const { return power_cut_; }
  [[nodiscard]] std::uint64_t writes_started() const { return writes_started_; }
  // Operations of any kind that have not ended; stuck ones too.
  [[nodiscard]] std::size_t in_flight_count() const { return in_flight_; }

  [[nodiscard]] std::string_view name() const override { return "sim"; }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Result<FileId> open(const std::string& path, const OpenOptions& options) override;
  [[nodiscard]] const FileFacts& facts(FileId file) const override;
  [[nodiscard]] Status allocate(FileId file, std::uint64_t size_bytes) override;
  void close(FileId file) override;
  [[nodiscard]] Result<FileId> listen(const void* address, std::uint32_t address_bytes) override;
  [[nodiscard]] Result<FileId> socket(int family) override;
  [[nodiscard]] Result<std::uint16_t> local_port(FileId file) const override;
  [[nodiscard]] Status submit(Op& op) override;
  [[nodiscard]] std::size_t ops_max() const override { return options_.ops_max; }
  void cancel(Op& op) override;
  std::size_t poll(Nanos wait) override;
  void wake() override { woken_ = true; }

 private:
  struct Stream;  // one end of a connection
  struct Entry;   // an open file or socket
  // Names its operation by sequence: one that was cancelled meanwhile is no longer in live_.
  struct Event {
    Nanos at;
    std::uint64_t sequence;
    friend bool operator<(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;  // earliest on top
    }
  };

  struct Pending {
    Op* op = nullptr;
    std::optional<FaultRule> fault;
    std::optional<Error> outcome;  // known already: refused or cancelled
  };

  Entry* entry(FileId file) const;
  FileId add(std::unique_ptr<Entry> entry);
  [[nodiscard]] std::optional<Error> refusal(const Op& op) const;
  void schedule(Op& op, Nanos at, Pending pending);
  Nanos completion_time(std::uint64_t bytes);
  std::size_t run_due();
  Result<std::size_t> perform(Op& op, const Pending& pending);
  Result<std::size_t> perform_transfer(Op& op, SimFile& file,
                                       const std::optional<FaultRule>& fault);
  void write_with_fault(const Op& op, SimFile& file, const std::optional<FaultRule>& fault,
                        std::size_t size);
  void cut_power();
  bool advance_socket(Op& op);
  std::size_t advance_sockets();
  void finish(Op& op, Result<std::size_t> done);

  SimOptions options_;
  std::shared_ptr<SimDisk> disk_;
  ManualClock clock_;
  Rng rng_;
  FaultRules faults_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::priority_queue<Event> events_;
  std::unordered_map<std::uint64_t, Pending> live_;
  std::vector<Pending> stuck_;
  std::vector<Op*> socket_ops_;
  std::uint64_t next_sequence_ = 0;
  std::size_t in_flight_ = 0;
  Nanos wire_free_at_{0};
  std::uint64_t writes_started_ = 0;
  std::uint64_t writes_until_cut_ = 0;
  bool vanished_ = false;
  bool power_cut_ = false;
  bool woken_ = false;
  std::uint16_t next_port_ = 40000;
};

}  // namespace forebay::io

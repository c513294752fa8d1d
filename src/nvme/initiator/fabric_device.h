// A namespace of an NVMe/TCP controller as a block device.
//
//   opening ──▶ ready ◀──▶ lost ──lost_time──▶ down
//      └▶ failed  ▲                             │      lost and down try to connect again, first
//                 └─────────────────────────────┘      after 0.1 s, in the end every 5 s
//
// Requests larger than a command (MDTS) are cut; what the queues have no room for waits in order.
// While the connection is lost, requests wait until their deadline, or until it is down: then they
// end with kGone, at once. What was on its way is sent again on the next connection: reads always;
// writes and discards where the target shows that nothing of the old connection can land any more
// (its process is a new one, or it has ended the old controller: WriteGuard), else they end with
// kGone, and may have taken effect. Acknowledged writes that no flush has made durable may be gone
// with a volatile cache when the controller comes back, so the next flush then ends with kIo, once,
// as fsync() does; not where the target tells that its cache is the same (CacheEpoch).
//
// A device that is opened for writing becomes the namespace's only writer (WriteGuard), or is not
// opened: kExists. Where that is lost later on, to a host that preempts or one that came first
// after an outage, writes, discards and flushes fail with kExists from then on; reads do not.
//
// A target that tells of changes changes geometry(): the namespace grows and shrinks while it is
// open. Requests beyond a smaller size are refused.
//
// A deadline ends what still waits; a command that the controller has is given back by cancel(), a
// write when it is answered. One that is not answered within command_time is aborted; if that does
// not end it, the connection ends. It fails with kTimedOut.
//
// Ownership: as block::Device. Threads: one loop's; open() and the destructor drive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvme/initiator/association.h"
#include "nvme/initiator/fabric_job.h"

namespace forebay::nvme::initiator {

enum class FabricState : std::uint8_t { kOpening, kFailed, kReady, kLost, kDown, kClosing };
[[nodiscard]] std::string_view to_string(FabricState state);

struct FabricOptions {
  std::string name;                    // for messages: the URL
  std::vector<PeerAddress> addresses;  // of one controller's port; tried in turn, from one on
  AssociationOptions association;
  bool write = true;
  Nanos lost_time = std::chrono::seconds(15);  // that requests wait for a lost connection
};

struct FabricCounters {
  std::uint64_t commands = 0;  // sent, again included
  std::uint64_t retries = 0;
  std::uint64_t aborted = 0;  // they were not answered in time
  std::uint64_t connections_lost = 0;
  std::uint64_t connect_failures = 0;
};

class FabricDevice final : public block::Device, private Association::Owner {
 public:
  // Drives the loop until the namespace is known or every address failed, within connect_time in
  // all: then the last one's error. Beside the command's own: kGone, kTimedOut, kNotFound (name or
  // namespace), kDenied, kUnsupported, kExists (another process has it open for writing).
  [[nodiscard]] static Result<std::unique_ptr<FabricDevice>> open(io::Loop& loop,
                                                                  const FabricOptions& options);
  ~FabricDevice() override;

  [[nodiscard]] const block::Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void submit(block::Request& request) override;
  void cancel(block::Request& request) override;

  [[nodiscard]] FabricState state() const { return state_; }
  [[nodiscard]] const FabricCounters& counters() const { return counters_; }

 private:
  FabricDevice(io::Loop& loop, const FabricOptions& options) : loop_(loop), options_(options) {}

  // fabric_device.cc: requests
  void pump();
  void pump_once();
  void cut(Job& job, Connection& connection);
  void fill_transfer(Command& command, Job& job);
  void fill_discard(Command& command, Job& job);
  void send(Command& command, Connection& connection);
  void on_command_done(Command& command);
  void note_success(const Command& command);
  [[nodiscard]] bool should_retry(const Command& command, const Connection& connection) const;
  void sort_again(bool fenced, bool cache_kept);
  void end_command(Command& command);
  void fail_job(Job& job, const Error& error);
  void settle(Job& job);
  void drop_waiting(const Error& error, Nanos due_by);
  void note_deadline(Nanos deadline);
  void on_deadline();
  [[nodiscard]] Job& take_job(block::Request& request);
  [[nodiscard]] Command& take_command(Job& job);
  static void finish(block::Request& request, Result<std::size_t> done);

  // fabric_connect.cc: the connection
  void connect();
  [[nodiscard]] Nanos attempt_time() const;
  void on_ready(Association& association) override;
  void on_ended(Association& association) override;
  void on_namespace_changed(Association& association,
                            const Result<ControllerFacts>& facts) override;
  void take_size(std::uint64_t size_bytes);
  void connect_later();
  void enter_lost();
  void enter_down();
  [[nodiscard]] Status take_geometry(const ControllerFacts& facts);
  [[nodiscard]] bool take_cache(const ControllerFacts& facts);
  [[nodiscard]] Status take_guard(const Association& association);
  void lose_guard(const Error& why);
  [[nodiscard]] Status refuse_for_good(const Error& why);

  io::Loop& loop_;
  FabricOptions options_;
  FabricState state_ = FabricState::kOpening;
  Error open_error_{Errc::kGone, "nvme: not connected"};
  block::Geometry geometry_;
  ControllerFacts facts_;
  std::optional<Error> guard_lost_;  // why this device does not write any more
  bool other_disk_told_ = false;
  std::unique_ptr<Association> association_;
  std::size_t next_address_ = 0;
  std::size_t attempts_ = 0;  // since there was a connection
  Nanos opened_at_{};
  Nanos lost_at_{};
  io::Loop::Timer connect_timer_;
  io::Loop::Timer lost_timer_;

  std::vector<std::unique_ptr<Job>> jobs_;  // all that were ever made
  std::vector<Job*> free_jobs_;
  std::uint64_t next_serial_ = 1;
  IntrusiveQueue<Job, &Job::next> waiting_;
  std::vector<std::unique_ptr<Command>> commands_;  // bounded by the queues' entries
  std::vector<Command*> free_commands_;
  IntrusiveQueue<Command, &Command::next> again_;  // sent before, goes first
  io::Loop::Timer deadline_timer_;
  Nanos deadline_ = kForever;  // what it is armed for
  bool pumping_ = false;
  bool pump_again_ = false;

  std::uint64_t written_ = 0;  // writes and discards acknowledged
  std::uint64_t flushed_ = 0;  // of them, made durable, or lost
  bool cache_lost_ = false;    // the next flush says so
  FabricCounters counters_;
};

}  // namespace forebay::nvme::initiator

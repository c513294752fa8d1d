// One connection to our own target over the simulator's sockets: segments of random size, virtual
// time.
#include "nvme/initiator/connection.h"

#include <gtest/gtest.h>

#include <memory>

#include "block/memory.h"
#include "core/bytes.h"
#include "io/sim.h"
#include "nvme/auth/auth_testing.h"
#include "nvme/initiator/controller_setup.h"
#include "nvme/initiator/fabric_testing.h"
#include "nvme/target/target.h"

namespace forebay::nvme::initiator {
namespace {

class Watcher final : public Connection::Owner {
 public:
  void on_ready(Connection& /*connection*/) override { ready = true; }
  void on_overdue(Connection& /*connection*/, std::uint16_t /*command_id*/) override {}
  void on_closed(Connection& connection) override {
    closed = true;
    error = connection.queue().end_error();
  }
  bool ready = false;
  bool closed = false;
  Error error{Errc::kInvalid, "test: not closed"};
};

// An event request: there is no answer to it for now.
struct Unanswered {
  QueueCommand command;
  bool done = false;
  Unanswered() {
    command.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kAsyncEvent);
    command.context = this;
    command.on_done = [](QueueCommand& c) { static_cast<Unanswered*>(c.context)->done = true; };
  }
  Unanswered(const Unanswered&) = delete;
  Unanswered& operator=(const Unanswered&) = delete;
};

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    target_.add_subsystem(kTestNqn).add_namespace(1, *device_);
    port_ = target_.listen("127.0.0.1", 0).value();
  }
  ~ConnectionTest() override {
    if (connection_) connection_->close({Errc::kCancelled, "test: over"});
    while (connection_ && !watcher_.closed) loop_.turn();
    loop_.run(target_.drain());
  }
  void start(std::uint16_t port, const char* nqn = kTestNqn) {
    QueueOptions options;
    options.credentials = credentials_;
    options.subsystem_nqn = nqn;
    options.host.nqn = "nqn.2026-12.org.forebay:host";
    connection_ = std::make_unique<Connection>(loop_, watcher_, loopback(port), options);
    connection_->start(std::chrono::seconds(2), std::chrono::seconds(8));
    while (!watcher_.ready && !watcher_.closed) loop_.turn();
  }
  ControllerFacts set_up() {
    ControllerSetup setup({.controller_id = connection_->queue().controller_id(), .io_queues = 2});
    bool done = false;
    setup.command().context = &done;
    setup.command().on_done = [](QueueCommand& c) { *static_cast<bool*>(c.context) = true; };
    while (setup.state() != SetupState::kDone) {
      done = false;
      setup.prepare();
      connection_->submit(setup.command());
      while (!done) loop_.turn();
      const Status taken = setup.take();
      EXPECT_TRUE(taken) << to_string(taken.error());
      if (!taken) break;
    }
    return setup.facts();
  }

  io::SimEngine engine_{io::SimOptions{.seed = 5}};
  io::Loop loop_{engine_};
  std::unique_ptr<block::Device> device_ =
      block::make_memory_device(loop_, {.size_bytes = 16 * kMiB});
  target::Target target_{loop_, {}};
  std::uint16_t port_ = 0;
  std::shared_ptr<const auth::Credentials> credentials_;
  Watcher watcher_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(ConnectionTest, AControllerIsSetUpOverIt) {
  start(port_);
  const ControllerFacts facts = set_up();
  EXPECT_EQ(facts.block_count * facts.block_bytes, 16 * kMiB);
  EXPECT_EQ(facts.io_queues, 2);
}

TEST_F(ConnectionTest, ClosingGivesCommandsBackAndTellsOnce) {
  start(port_);
  set_up();
  Unanswered event;
  connection_->submit(event.command);
  for (int i = 0; i < 20; ++i) loop_.turn();
  EXPECT_FALSE(event.done);
  connection_->close({Errc::kCancelled, "test: over"});
  while (!watcher_.closed) loop_.turn();
  EXPECT_TRUE(event.done);
  EXPECT_EQ(event.command.result.error().code, Errc::kCancelled);
  EXPECT_EQ(connection_->state(), ConnectionState::kClosed);
}

// An abandoned command counts too: its slot is taken until the target answers.
TEST_F(ConnectionTest, ACommandThatIsNotAnsweredEndsIt) {
  start(port_);
  set_up();
  Unanswered event;
  const Nanos before = loop_.now();
  connection_->submit(event.command);
  loop_.turn();
  for (int i = 0; i < 20; ++i) loop_.turn();
  connection_->abandon(event.command, {Errc::kCancelled, "test: abandoned"});
  EXPECT_TRUE(event.done);
  while (!watcher_.closed) loop_.turn();
  EXPECT_EQ(watcher_.error.code, Errc::kTimedOut);
  EXPECT_GE(loop_.now() - before, std::chrono::seconds(8));
  EXPECT_LE(loop_.now() - before, std::chrono::seconds(11));
}

// Other devices of the loop may have all of its operations for a while.
TEST_F(ConnectionTest, AnEngineThatIsFullIsAskedAgain) {
  start(port_);
  const auto fill = [this](std::vector<io::Op>& ops) {
    for (io::Op& op : ops) {
      op.on_done = [](io::Op&) {};
      (void)engine_.submit(op);
    }
  };
  std::vector<io::Op> others(engine_.ops_max());
  fill(others);
  const ControllerFacts facts = set_up();
  EXPECT_EQ(facts.io_queues, 2);
  std::vector<io::Op> more(engine_.ops_max());
  fill(more);
  QueueCommand command;
  bool done = false;
  command.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kKeepAlive);
  command.context = &done;
  command.on_done = [](QueueCommand& c) { *static_cast<bool*>(c.context) = true; };
  connection_->submit(command);
  connection_->close({Errc::kCancelled, "test: over"});  // before it was taken
  while (!watcher_.closed) loop_.turn();
  EXPECT_TRUE(done);
  EXPECT_EQ(command.result.error().code, Errc::kCancelled);
}

TEST_F(ConnectionTest, NobodyListensThere) {
  start(static_cast<std::uint16_t>(port_ + 1));
  EXPECT_FALSE(watcher_.ready);
  EXPECT_EQ(watcher_.error.os, ECONNREFUSED);
}

TEST_F(ConnectionTest, ASubsystemOfThatNameIsNotThere) {
  start(port_, "nqn.2026-12.org.forebay:other");
  EXPECT_FALSE(watcher_.ready);
  EXPECT_EQ(watcher_.error.code, Errc::kNotFound);
}

// Commands go on while the queue proves itself again and again; one at a time.
TEST_F(ConnectionTest, AQueueProvesItselfAgainWhileItWorks) {
  credentials_ = auth::credentials_of(auth::kHostSecret, auth::kControllerSecret);
  target_.set_credentials(kTestHostNqn, credentials_);
  start(port_);
  ASSERT_TRUE(watcher_.ready) << watcher_.error.what;
  EXPECT_EQ(connection_->queue().authentication_count(), 1);
  set_up();
  Unanswered event;
  connection_->submit(event.command);
  for (std::uint16_t i = 2; i < 8; ++i) {
    connection_->reauthenticate();
    connection_->reauthenticate();
    EXPECT_EQ(connection_->queue().authentication_count(), i);
    EXPECT_EQ(set_up().io_queues, 2);
    const Nanos until = loop_.now() + std::chrono::milliseconds(100);
    while (loop_.now() < until) loop_.turn();
  }
  EXPECT_FALSE(event.done || watcher_.closed);
  connection_->close({Errc::kCancelled, "test: over"});
  while (!watcher_.closed) loop_.turn();
}

// Its port takes connections, and nobody reads them.
TEST_F(ConnectionTest, APeerThatSaysNothingIsGivenUp) {
  const PeerAddress any = loopback(0);
  const io::FileId silent = engine_.listen(&any.storage, any.bytes).value();
  const Nanos before = loop_.now();
  start(engine_.local_port(silent).value());
  EXPECT_FALSE(watcher_.ready);
  EXPECT_EQ(watcher_.error.code, Errc::kTimedOut);
  EXPECT_GE(loop_.now() - before, std::chrono::seconds(2));
  EXPECT_LT(loop_.now() - before, std::chrono::seconds(4));
  engine_.close(silent);
}

}  // namespace
}  // namespace forebay::nvme::initiator

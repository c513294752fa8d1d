// The controller's state machine, its commands and Connect, without a socket.
#include "nvme/target/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "block/memory.h"
#include "core/bytes.h"
#include "io/sim.h"
#include "nvme/data_page.h"
#include "nvme/target/admin.h"
#include "nvme/target/connect.h"
#include "nvme/target/discovery.h"
#include "nvme/target/queues.h"
#include "nvme/tls/tls_testing.h"

namespace forebay::nvme::target {
namespace {

constexpr const char* kDiskNqn = "nqn.2026-12.org.forebay:disk";
constexpr std::uint32_t kConfigurationAt = 0x14;
constexpr std::uint32_t kStatusAt = 0x1C;

struct World {
  io::SimEngine engine{io::SimOptions{}};
  io::Loop loop{engine};
  std::unique_ptr<block::Device> device =
      block::make_memory_device(loop, {.size_bytes = 64 * kMiB});
  Subsystems subsystems;
  HostIdentity host{.id = {std::byte{1}}, .nqn = "nqn.2014-08.org.nvmexpress:uuid:a"};

  World() {
    subsystems.push_back(std::make_unique<Subsystem>(std::string(kDiscoveryNqn),
                                                     SubsystemKind::kDiscovery, TargetLimits{}));
    subsystems.push_back(
        std::make_unique<Subsystem>(kDiskNqn, SubsystemKind::kNvm, TargetLimits{}));
    disk().add_namespace(1, *device);
  }
  Subsystem& disk() { return *subsystems[1]; }
  std::shared_ptr<Controller> ready() {
    auto controller = disk().make_controller(host);
    EXPECT_TRUE(controller->set_property({.offset = kConfigurationAt, .value = 0x460001}));
    return controller;
  }
};

std::uint64_t property(const Controller& controller, std::uint32_t offset, bool wide = false) {
  std::uint64_t value = 0;
  EXPECT_TRUE(controller.get_property(
      {.attributes = static_cast<std::uint8_t>(wide ? 1 : 0), .offset = offset}, &value));
  return value;
}

// An admin command with room for an answer.
struct Command {
  Exchange exchange;
  std::vector<std::byte> out;
  int finished = 0;
  explicit Command(AdminOpcode opcode, std::size_t out_bytes = 0) : out(out_bytes) {
    exchange.sqe.opcode = static_cast<std::uint8_t>(opcode);
    exchange.out = out;
    exchange.context = this;
    exchange.on_done = [](Exchange& done) { ++static_cast<Command*>(done.context)->finished; };
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    return load_as<T>(std::span(out).subspan(offset));
  }
};

TEST(NvmeController, SaysWhatItCan) {
  World world;
  const auto controller = world.disk().make_controller(world.host);
  // MQES 127, CQR, TO 15 s, NVM command set (Base Specification 2.0, 3.1.3.1).
  EXPECT_EQ(property(*controller, 0, true), 0x20'1E01'007FULL);
  EXPECT_EQ(property(*controller, 8), 0x10400U);
  std::uint64_t value = 0;
  EXPECT_FALSE(controller->get_property({.attributes = 0, .offset = 0}, &value));
  EXPECT_FALSE(controller->get_property({.attributes = 0, .offset = 0x28}, &value));
  EXPECT_FALSE(controller->set_property({.offset = 0}));
}

TEST(NvmeController, IsReadyOnceEnabledAndShutsDownWhenTold) {
  World world;
  const auto controller = world.disk().make_controller(world.host);
  EXPECT_EQ(property(*controller, kStatusAt), 0U);
  // What Linux writes: first without, then with CC.EN; at the end with a normal shutdown.
  EXPECT_TRUE(controller->set_property({.offset = kConfigurationAt, .value = 0x460000}));
  EXPECT_EQ(controller->state(), ControllerState::kDisabled);
  EXPECT_TRUE(controller->set_property({.offset = kConfigurationAt, .value = 0x460001}));
  EXPECT_EQ(property(*controller, kStatusAt), 1U);
  EXPECT_TRUE(controller->set_property({.offset = kConfigurationAt, .value = 0x464001}));
  EXPECT_EQ(property(*controller, kStatusAt) & 0xC, 8U);
  EXPECT_EQ(to_string(controller->state()), "shut down");
}

TEST(NvmeController, CannotBeEnabledWithSettingsItHasNot) {
  World world;
  for (const std::uint64_t bad : {0x450001ULL, 0x460081ULL, 0x460061ULL, 0x470001ULL}) {
    const auto controller = world.disk().make_controller(world.host);
    EXPECT_TRUE(controller->set_property({.offset = kConfigurationAt, .value = bad}));
    EXPECT_EQ(property(*controller, kStatusAt), 2U) << bad;
  }
}

TEST(NvmeController, TakesAdminCommandsOnlyWhenReady) {
  World world;
  const auto controller = world.disk().make_controller(world.host);
  Command command(AdminOpcode::kIdentify, kIdentifyBytes);
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  EXPECT_EQ(command.exchange.status, refuse(StatusCode::kSequenceError));
}

TEST(NvmeIdentify, TheControllerPageHasWhatLinuxChecks) {
  World world;
  const auto controller = world.ready();
  Command command(AdminOpcode::kIdentify, kIdentifyBytes);
  command.exchange.sqe.dwords10[0] = 1;
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  ASSERT_TRUE(command.exchange.status.ok());
  EXPECT_EQ(command.at<std::uint16_t>(78), controller->id());
  EXPECT_EQ(command.at<std::uint8_t>(77), 8);     // MDTS: 1 MiB
  EXPECT_EQ(command.at<std::uint8_t>(111), 1);    // an I/O controller
  EXPECT_EQ(command.at<std::uint16_t>(320), 10);  // KAS
  EXPECT_EQ(command.at<std::uint8_t>(512), 0x66);
  EXPECT_EQ(command.at<std::uint16_t>(514), 128);   // MAXCMD
  EXPECT_EQ(command.at<std::uint16_t>(520), 0x2D);  // ONCS
  EXPECT_EQ(command.at<std::uint8_t>(525) & 1, 1);  // VWC
  EXPECT_EQ(command.at<std::uint32_t>(536) & 3, 1U);
  EXPECT_EQ(command.at<std::uint32_t>(1792), 1028U);  // IOCCSZ: 64 bytes and 16 KiB
  EXPECT_EQ(command.at<std::uint32_t>(1796), 1U);
  EXPECT_STREQ(reinterpret_cast<const char*>(&command.out[768]), kDiskNqn);
}

TEST(NvmeIdentify, ANamespaceHasItsSizeAndOneLastingIdentity) {
  World world;
  const auto controller = world.ready();
  Command page(AdminOpcode::kIdentify, kIdentifyBytes);
  page.exchange.sqe.namespace_id = 1;
  EXPECT_EQ(run_admin(*controller, page.exchange), Progress::kDone);
  EXPECT_EQ(page.at<std::uint64_t>(0), 64 * kMiB / 4096);
  EXPECT_EQ(page.at<std::uint8_t>(130), 12);  // LBADS: 4 KiB
  Command list(AdminOpcode::kIdentify, kIdentifyBytes);
  list.exchange.sqe.namespace_id = 1;
  list.exchange.sqe.dwords10[0] = 3;
  EXPECT_EQ(run_admin(*controller, list.exchange), Progress::kDone);
  EXPECT_EQ(list.at<Uuid>(4), page.at<Uuid>(104));
  EXPECT_EQ(list.at<Uuid>(24), make_uuid(kDiskNqn, 1));
  EXPECT_NE(make_uuid(kDiskNqn, 1), make_uuid(kDiskNqn, 2));
  EXPECT_EQ(list.at<std::uint8_t>(30) & 0xF0, 0x80);  // the UUID's version
}

TEST(NvmeIdentify, ListsNamespacesAboveTheOneGiven) {
  World world;
  world.disk().add_namespace(7, *world.device);
  const auto controller = world.ready();
  Command command(AdminOpcode::kIdentify, kIdentifyBytes);
  command.exchange.sqe.dwords10[0] = 2;
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  EXPECT_EQ(command.at<std::uint32_t>(0), 1U);
  EXPECT_EQ(command.at<std::uint32_t>(4), 7U);
  EXPECT_EQ(command.at<std::uint32_t>(8), 0U);
  command.exchange.sqe.namespace_id = 1;
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  EXPECT_EQ(command.at<std::uint32_t>(0), 7U);
}

TEST(NvmeIdentify, UnknownPagesAreRefusedWithoutMore) {
  World world;
  const auto controller = world.ready();
  Command command(AdminOpcode::kIdentify, kIdentifyBytes);
  command.exchange.sqe.dwords10[0] = 0x44;
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  EXPECT_EQ(command.exchange.status, refuse(StatusCode::kInvalidField));
}

// A log read of `bytes` at `offset`.
CommandStatus read_log(Controller& controller, Command& command, std::uint8_t id,
                       std::uint64_t offset = 0) {
  command.exchange.sqe.dwords10[0] =
      id | (static_cast<std::uint32_t>(command.out.size() / 4 - 1) << 16);
  command.exchange.sqe.dwords10[2] = static_cast<std::uint32_t>(offset);
  command.exchange.sqe.dwords10[3] = static_cast<std::uint32_t>(offset >> 32);
  EXPECT_EQ(run_admin(controller, command.exchange), Progress::kDone);
  return command.exchange.status;
}

TEST(NvmeLog, AnOffsetBeyondThePageReadsNothing) {
  World world;
  const auto controller = world.ready();
  Command command(AdminOpcode::kGetLogPage, 512);
  EXPECT_TRUE(read_log(*controller, command, 0x02).ok());
  EXPECT_EQ(read_log(*controller, command, 0x02, 516), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(read_log(*controller, command, 0x02, ~3ULL), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(read_log(*controller, command, 0x02, 2), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(read_log(*controller, command, 0x99), refuse(StatusCode::kInvalidLogPage));
}

TEST(NvmeLog, EffectsNameEveryCommandThatIsThere) {
  World world;
  const auto controller = world.ready();
  Command command(AdminOpcode::kGetLogPage, 4096);
  ASSERT_TRUE(read_log(*controller, command, 0x05).ok());
  EXPECT_EQ(command.at<std::uint32_t>(0x06 * 4), 1U);         // Identify
  EXPECT_EQ(command.at<std::uint32_t>(1024 + 0x01 * 4), 3U);  // Write changes blocks
  EXPECT_EQ(command.at<std::uint32_t>(1024 + 0x02 * 4), 1U);  // Read
  EXPECT_EQ(command.at<std::uint32_t>(1024 + 0x11 * 4), 1U);  // Reservation Acquire
  EXPECT_EQ(command.at<std::uint32_t>(1024 + 0x0C * 4), 0U);  // no Verify
}

TEST(NvmeEvents, ANamespaceChangeIsToldOnceUntilItsLogIsRead) {
  World world;
  const auto controller = world.ready();
  controller->async_events = kNamespaceEvent.enable_bit;
  Command first(AdminOpcode::kAsyncEvent);
  Command second(AdminOpcode::kAsyncEvent);
  EXPECT_EQ(run_admin(*controller, first.exchange), Progress::kLater);
  EXPECT_EQ(run_admin(*controller, second.exchange), Progress::kLater);
  controller->notify_namespace(1);
  controller->notify_namespace(2);
  EXPECT_EQ(first.finished, 1);
  EXPECT_EQ(first.exchange.result, 0x00040002U);
  EXPECT_EQ(second.finished, 0);
  Command log(AdminOpcode::kGetLogPage, 4096);
  ASSERT_TRUE(read_log(*controller, log, 0x04).ok());
  EXPECT_EQ(log.at<std::uint32_t>(0), 1U);
  EXPECT_EQ(log.at<std::uint32_t>(4), 2U);
  controller->notify_namespace(3);
  EXPECT_EQ(second.finished, 1);
}

// A change before there is a request, or before the host asked for events, is told as it should be.
TEST(NvmeEvents, WhatASubsystemAddsAndRemovesIsToldToHostsThatSeeIt) {
  World world;
  const auto controller = world.ready();
  Subsystem& subsystem = controller->subsystem();
  subsystem.announce(1);  // nobody asked
  controller->async_events = kNamespaceEvent.enable_bit;
  Command request(AdminOpcode::kAsyncEvent);
  ASSERT_EQ(run_admin(*controller, request.exchange), Progress::kLater);
  EXPECT_EQ(request.finished, 0);
  subsystem.announce(9999);  // there is none
  EXPECT_EQ(request.finished, 0);
  subsystem.remove_namespace(1);
  EXPECT_EQ(request.finished, 1);
  EXPECT_EQ(request.exchange.result, 0x00040002U);
  EXPECT_EQ(controller->find_namespace(1), nullptr);
  Command log(AdminOpcode::kGetLogPage, 4096);
  ASSERT_TRUE(read_log(*controller, log, 0x04).ok());
  EXPECT_EQ(log.at<std::uint32_t>(0), 1U);
  EXPECT_EQ(log.at<std::uint32_t>(4), 0U);
}

TEST(NvmeEvents, TooManyRequestsAreRefusedAndAHeldOneCanBeAborted) {
  World world;
  const auto controller = world.ready();
  std::deque<Command> held;
  for (std::uint16_t id = 0; id < kAsyncEventsMax; ++id) {
    held.emplace_back(AdminOpcode::kAsyncEvent);
    held.back().exchange.sqe.command_id = id;
    EXPECT_EQ(run_admin(*controller, held.back().exchange), Progress::kLater);
  }
  Command extra(AdminOpcode::kAsyncEvent);
  EXPECT_EQ(run_admin(*controller, extra.exchange), Progress::kDone);
  EXPECT_EQ(extra.exchange.status, refuse(StatusCode::kAsyncEventLimit));
  Command abort(AdminOpcode::kAbort);
  abort.exchange.sqe.dwords10[0] = 2U << 16;
  EXPECT_EQ(run_admin(*controller, abort.exchange), Progress::kDone);
  EXPECT_EQ(abort.exchange.result, 0U);
  EXPECT_EQ(held[2].exchange.status, retry_later(StatusCode::kAbortRequested));
  EXPECT_EQ(run_admin(*controller, abort.exchange), Progress::kDone);
  EXPECT_EQ(abort.exchange.result, 1U);  // not there any more
}

TEST(NvmeFeatures, QueuesAreGrantedUpToTheLimitCountedFromZero) {
  World world;
  const auto controller = world.ready();
  Command command(AdminOpcode::kSetFeatures);
  command.exchange.sqe.dwords10[0] = 7;
  command.exchange.sqe.dwords10[1] = 0x00030003;
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  EXPECT_EQ(command.exchange.result, 0x00030003U);
  command.exchange.sqe.dwords10[1] = 0x03FF03FF;
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  EXPECT_EQ(command.exchange.result, 0x000F000FU);
  command.exchange.sqe.dwords10[1] = 0xFFFFFFFF;
  EXPECT_EQ(run_admin(*controller, command.exchange), Progress::kDone);
  EXPECT_EQ(command.exchange.status, refuse(StatusCode::kInvalidField));
}

TEST(NvmeKeepAlive, ExpiresUnlessThereIsASignOfLifeAndNeverWhenOff) {
  World world;
  const auto controller = world.ready();
  EXPECT_EQ(controller->expires_at(), kForever);
  controller->set_keep_alive(1500);
  EXPECT_EQ(controller->keep_alive_ms(), 2000U);
  controller->note_life(std::chrono::seconds(10));
  EXPECT_EQ(controller->expires_at(), std::chrono::seconds(12));
  controller->set_keep_alive(0);
  EXPECT_EQ(controller->expires_at(), kForever);
}

// Connect, as a host writes it.
struct Connect {
  Sqe sqe;
  ConnectFields fields{.queue_size = 31, .attributes = kConnectNoFlowControl};
  ConnectData data;
  Channel channel;
  explicit Connect(const World& world, std::string_view nqn = kDiskNqn) {
    data.host_id = world.host.id;
    data.controller_id = 0xFFFF;
    std::ranges::copy(nqn, data.subsystem_nqn.begin());
    std::ranges::copy(world.host.nqn, data.host_nqn.begin());
  }
  auto run(World& world) {
    set_fields(sqe, fields);
    return connect_queue(world.subsystems,
                         {.sqe = sqe, .data = bytes_of(data), .now = {}, .channel = channel});
  }
  std::uint32_t refusal(World& world) {
    const auto outcome = run(world);
    EXPECT_FALSE(outcome);
    EXPECT_EQ(outcome.error().status, refuse(StatusCode::kConnectInvalidParameters));
    return outcome.error().result;
  }
};

TEST(NvmeConnect, TheAdminQueueMakesAController) {
  World world;
  Connect connect(world);
  const auto queue = connect.run(world);
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->entries, 32);
  EXPECT_FALSE(queue->flow_control);
  EXPECT_EQ(queue->controller->keep_alive_ms(), 0U);
  const auto another = connect.run(world);
  EXPECT_NE(another->controller->id(), queue->controller->id());
}

TEST(NvmeConnect, RefusalsNameTheFieldAndCommandOrData) {
  World world;
  EXPECT_EQ(Connect(world, "nqn.2026-12.org.forebay:other").refusal(world), 0x10100U);
  Connect no_host(world);
  no_host.data.host_nqn = {};
  EXPECT_EQ(no_host.refusal(world), 0x10200U);
  Connect endless(world);
  endless.data.host_nqn.fill('a');
  EXPECT_EQ(endless.refusal(world), 0x10200U);
  Connect queue_of_one(world);
  queue_of_one.fields.queue_size = 0;
  EXPECT_EQ(queue_of_one.refusal(world), 44U);
  Connect too_long(world);
  too_long.fields.queue_size = 128;
  EXPECT_EQ(too_long.refusal(world), 44U);
  Connect static_id(world);
  static_id.data.controller_id = 1;
  EXPECT_EQ(static_id.refusal(world), 0x10010U);
  Connect format(world);
  format.fields.format = 1;
  EXPECT_EQ(format.run(world).error().status, refuse(StatusCode::kConnectFormat));
}

TEST(NvmeConnect, AnIoQueueJoinsItsOwnControllerOnceAndWithinTheLimit) {
  World world;
  const auto controller = world.ready();
  Connect connect(world);
  connect.data.controller_id = controller->id();
  connect.fields.queue_id = 1;
  EXPECT_TRUE(connect.run(world));
  // A fast reconnect meets the old queue: busy, and the host may try again.
  EXPECT_EQ(connect.run(world).error().status, retry_later(StatusCode::kConnectBusy));
  controller->leave_queue(1);
  EXPECT_TRUE(connect.run(world));
  connect.fields.queue_id = 17;
  EXPECT_EQ(connect.refusal(world), 42U);
  connect.fields.queue_id = 2;
  connect.data.host_id[5] = std::byte{9};
  EXPECT_EQ(connect.refusal(world), 0x10010U);
}

TEST(NvmeConnect, AHostWaitsUntilItsDyingControllerIsGone) {
  World world;
  auto controller = world.ready();
  controller->die();
  Connect connect(world);
  EXPECT_EQ(connect.run(world).error().status, retry_later(StatusCode::kConnectBusy));
  controller.reset();
  EXPECT_TRUE(connect.run(world));
}

TEST(NvmeConnect, ADiscoveryControllerWithoutKeepAliveGetsTwoMinutes) {
  World world;
  Connect connect(world, kDiscoveryNqn);
  const auto queue = connect.run(world);
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->controller->keep_alive_ms(), 120'000U);
}

TEST(NvmeDiscovery, TheLogNamesEverySubsystemAtEveryPort) {
  World world;
  const auto log =
      make_discovery_log(world.subsystems, {{AddressFamily::kIpv4, "10.0.0.1", 4420, 1}}, 5, "any");
  ASSERT_EQ(log.size(), 3 * kDiscoveryEntryBytes);
  EXPECT_EQ(load_as<std::uint64_t>(log), 5U);
  EXPECT_EQ(load_as<std::uint64_t>(std::span(log).subspan(8)), 2U);
  const char* entry = reinterpret_cast<const char*>(&log[2 * kDiscoveryEntryBytes]);
  EXPECT_EQ(entry[0], 3);  // TCP
  EXPECT_EQ(entry[2], 2);  // an NVM subsystem
  EXPECT_EQ(std::string(entry + 32, 32), "4420" + std::string(28, ' '));
  EXPECT_STREQ(entry + 256, kDiskNqn);
  EXPECT_EQ(std::string(entry + 512, 9), "10.0.0.1 ");
}

// TREQ and TSAS's SECTYPE, as Linux's host and nvme-cli read them (nvme.h).
TEST(NvmeDiscovery, TheLogSaysWhichPortsSpeakTls) {
  World world;
  const std::vector<PortAddress> ports{
      {AddressFamily::kIpv4, "10.0.0.1", 4420, 1, tls::TlsMode::kOff},
      {AddressFamily::kIpv4, "10.0.0.1", 4421, 2, tls::TlsMode::kOptional},
      {AddressFamily::kIpv4, "10.0.0.1", 4422, 3, tls::TlsMode::kRequired}};
  const auto log = make_discovery_log(world.subsystems, ports, 5, "any");
  const auto byte = [&log](std::size_t entry, std::size_t at) {
    return std::to_integer<unsigned>(log[(1 + entry) * kDiscoveryEntryBytes + at]);
  };
  EXPECT_EQ(byte(0, 3), 2U);  // not required
  EXPECT_EQ(byte(0, 768), 0U);
  EXPECT_EQ(byte(1, 3), 2U);
  EXPECT_EQ(byte(1, 768), 2U);  // TLS 1.3
  EXPECT_EQ(byte(2, 3), 1U);    // required
  EXPECT_EQ(byte(2, 768), 2U);
}

TEST(NvmeConnect, ATlsKeyGoesWithItsNamesAlone) {
  World world;
  const tls::PskParties own{world.host.nqn, kDiskNqn};
  const tls::PskParties other_host{"nqn.2014-08.org.nvmexpress:uuid:other", kDiskNqn};
  const tls::PskParties other_subsystem{world.host.nqn, std::string(kDiscoveryNqn)};
  tls::HostKeys keys;
  keys.emplace(world.host.nqn, tls::tls_key(tls::kBoundKey32));
  const auto allowed = [&world](const Channel& channel) {
    Connect connect(world);
    connect.channel = channel;
    return connect.run(world).has_value();
  };
  EXPECT_TRUE(allowed({.proven = &own, .keys = &keys}));
  EXPECT_FALSE(allowed({.proven = &other_host, .keys = &keys}));
  EXPECT_FALSE(allowed({.proven = &other_subsystem, .keys = &keys}));
  EXPECT_FALSE(allowed({.proven = nullptr, .keys = &keys}));
  keys.clear();
  EXPECT_TRUE(allowed({.proven = nullptr, .keys = &keys}));
}

TEST(NvmeHosts, OnlyThoseOnTheListConnectAndFindTheSubsystem) {
  World world;
  world.disk().hosts = HostList::only({world.host.nqn});
  Connect listed(world);
  EXPECT_TRUE(listed.run(world));

  world.disk().hosts = HostList::only({"nqn.2014-08.org.nvmexpress:uuid:b"});
  Connect stranger(world);
  EXPECT_EQ(stranger.run(world).error().status, refuse(StatusCode::kConnectInvalidHost));
  EXPECT_EQ(world.disk().controller_count(), 0U);
  const std::vector<PortAddress> ports{{AddressFamily::kIpv4, "10.0.0.1", 4420, 1}};
  const auto of_stranger = make_discovery_log(world.subsystems, ports, 5, world.host.nqn);
  EXPECT_EQ(load_as<std::uint64_t>(std::span(of_stranger).subspan(8)), 1U);  // discovery itself
  const auto of_listed =
      make_discovery_log(world.subsystems, ports, 5, "nqn.2014-08.org.nvmexpress:uuid:b");
  EXPECT_EQ(load_as<std::uint64_t>(std::span(of_listed).subspan(8)), 2U);
}

TEST(NvmeHosts, AnEmptyListAdmitsNobody) {
  World world;
  world.disk().hosts = HostList::only({});
  Connect connect(world);
  EXPECT_EQ(connect.run(world).error().status, refuse(StatusCode::kConnectInvalidHost));
}

TEST(NvmeHosts, AHiddenNamespaceIsAsIfThereWereNone) {
  World world;
  world.disk().add_namespace(2, *world.device).hosts = HostList::only({"nqn.2026-12.org.b:host"});
  const auto controller = world.ready();
  EXPECT_NE(controller->find_namespace(1), nullptr);
  EXPECT_EQ(controller->find_namespace(2), nullptr);

  Command active(AdminOpcode::kIdentify, kIdentifyBytes);
  active.exchange.sqe.dwords10[0] = 2;
  EXPECT_EQ(run_admin(*controller, active.exchange), Progress::kDone);
  EXPECT_EQ(active.at<std::uint32_t>(0), 1U);
  EXPECT_EQ(active.at<std::uint32_t>(4), 0U);

  Exchange read;
  read.sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kRead);
  read.sqe.namespace_id = 2;
  IoQueue queue(controller);
  EXPECT_EQ(queue.check(read, 4096), refuse(StatusCode::kInvalidNamespace));
  read.sqe.namespace_id = 1;
  EXPECT_TRUE(queue.check(read, 4096).ok());
}

TEST(NvmeHosts, AProtectedNamespaceIsReadAndNotWritten) {
  World world;
  world.disk().add_namespace(2, *world.device).write_protected = true;
  const auto controller = world.ready();
  IoQueue queue(controller);
  Exchange io;
  io.sqe.namespace_id = 2;
  io.sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kWrite);
  EXPECT_EQ(queue.check(io, 4096), refuse(StatusCode::kNamespaceWriteProtected));
  io.sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kRead);
  EXPECT_TRUE(queue.check(io, 4096).ok());
  Command identify(AdminOpcode::kIdentify, kIdentifyBytes);
  identify.exchange.sqe.namespace_id = 2;
  EXPECT_EQ(run_admin(*controller, identify.exchange), Progress::kDone);
  EXPECT_EQ(identify.at<std::uint8_t>(99) & 1, 1);  // NSATTR
}

}  // namespace
}  // namespace forebay::nvme::target

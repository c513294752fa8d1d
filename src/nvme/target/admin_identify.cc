// Identify (Base Specification 2.0, 5.17): offsets are those of its figures 275 to 280 and of the
// NVM Command Set Specification 1.0, figures 97 to 103.
#include <algorithm>
#include <array>
#include <bit>

#include "core/version.h"
#include "nvme/data_page.h"
#include "nvme/reservation.h"
#include "nvme/target/admin.h"
#include "nvme/target/io_plan.h"

namespace forebay::nvme::target {
namespace {

// Identify Controller.
constexpr std::uint8_t kManyControllers = 0x02;        // CMIC
constexpr std::uint32_t kTrafficKeepsAlive = 1U << 6;  // CTRATT.TBKAS
// ONCS: Compare, DSM, Write Zeroes, reservations.
constexpr std::uint16_t kOptionalCommands = 0x0D | kReservationCommands;
constexpr std::uint8_t kWriteCache = 0x05;         // VWC: there may be one; no broadcast flush
constexpr std::uint32_t kSglSupport = 0x00100001;  // SGLs, and offsets for in-capsule data
constexpr std::uint8_t kLogAttributes = 0x06;      // LPA: effects, extended data
constexpr std::uint16_t kCommandSlots = 128;       // MAXCMD
constexpr std::uint32_t kNamespacesMax = 1024;     // NN, MNAN

std::uint8_t transfer_exponent(std::uint32_t bytes) {  // in pages of 4 KiB
  return static_cast<std::uint8_t>(std::countr_zero(bytes / 4096));
}

void put_name_fields(const Controller& controller, DataPage& page) {
  const Subsystem& subsystem = controller.subsystem();
  page.put_text(4, 20, subsystem.serial());
  page.put_text(24, 40, controller.discovery() ? "Forebay discovery" : "Forebay");
  page.put_text(64, 8, version());
  page.put_text(768, kNqnBytes, subsystem.nqn(), '\0');
}

void put_common_fields(const Controller& controller, DataPage& page) {
  const TargetLimits& limits = controller.subsystem().limits();
  put_name_fields(controller, page);
  page.put<std::uint8_t>(77, transfer_exponent(limits.transfer_bytes_max));
  page.put<std::uint16_t>(78, controller.id());
  page.put<std::uint32_t>(80, 0x00010400);  // VER
  page.put<std::uint32_t>(92, controller.discovery() ? kDiscoveryEvent.enable_bit
                                                     : kNamespaceEvent.enable_bit);  // OAES
  page.put<std::uint8_t>(111, controller.discovery() ? 2 : 1);                       // CNTRLTYPE
  page.put<std::uint8_t>(259, kAsyncEventsMax - 1);                                  // AERL
  page.put<std::uint8_t>(261, kLogAttributes);
  page.put<std::uint16_t>(320, kKeepAliveGranularity);  // KAS
  page.put<std::uint16_t>(514, kCommandSlots);
  page.put<std::uint32_t>(536, kSglSupport);
}

CommandStatus identify_controller(Controller& controller, Exchange& exchange) {
  DataPage page(exchange.out);
  put_common_fields(controller, page);
  if (controller.discovery()) return kDone;
  const TargetLimits& limits = controller.subsystem().limits();
  page.put<std::uint8_t>(76, kManyControllers);
  page.put<std::uint32_t>(96, kTrafficKeepsAlive);
  page.put<std::uint8_t>(258, 3);     // ACL: aborts at a time, from 0
  page.put<std::uint8_t>(260, 0x03);  // FRMW: one slot, read only
  page.put<std::uint8_t>(512, 0x66);  // SQES: 64 bytes
  page.put<std::uint8_t>(513, 0x44);  // CQES: 16 bytes
  page.put<std::uint32_t>(516, kNamespacesMax);
  page.put<std::uint16_t>(520, kOptionalCommands);
  page.put<std::uint8_t>(525, kWriteCache);
  page.put<std::uint32_t>(540, kNamespacesMax);
  page.put<std::uint32_t>(1792, (sizeof(Sqe) + limits.io_capsule_bytes_max) / 16);  // IOCCSZ
  page.put<std::uint32_t>(1796, sizeof(Cqe) / 16);                                  // IORCSZ
  page.put<std::uint8_t>(1803, 1);                                                  // MSDBD
  return kDone;
}

CommandStatus identify_namespace(Controller& controller, Exchange& exchange) {
  const std::uint32_t id = exchange.sqe.namespace_id;
  DataPage page(exchange.out);
  if (id == kBroadcastNamespace || id == 0) return refuse(StatusCode::kInvalidNamespace);
  const Namespace* found = controller.find_namespace(id);
  // An id that is not in use: a page of zeroes (5.17.2.1).
  if (found == nullptr) return kDone;
  for (const std::size_t offset : {0U, 8U, 16U}) page.put(offset, found->block_count());
  page.put<std::uint8_t>(30, 1);  // NMIC: may be reached through several controllers
  page.put<std::uint8_t>(31, kReservationAllTypes);  // RESCAP
  // DLFEAT stays 0: what a deallocated block reads as is the device's to say.
  page.put_bytes(104, found->nguid);  // NGUID
  page.put<std::uint8_t>(130, static_cast<std::uint8_t>(std::countr_zero(found->block_bytes())));
  if (found->read_only()) page.put<std::uint8_t>(99, 1);  // NSATTR
  if (found->cache_epoch != CacheEpoch{}) {
    page.put(kCacheEpochMarkAt, kCacheEpochMark);
    page.put_bytes(kCacheEpochAt, found->cache_epoch);
  }
  return kDone;
}

CommandStatus active_namespaces(Controller& controller, Exchange& exchange) {
  const std::uint32_t after = exchange.sqe.namespace_id;
  if (after >= kBroadcastNamespace - 1) return refuse(StatusCode::kInvalidNamespace);
  DataPage page(exchange.out);
  std::size_t offset = 0;
  for (const auto& [id, found] : controller.subsystem().namespaces()) {
    if (id <= after || offset == kIdentifyBytes || !controller.sees(found)) continue;
    page.put(offset, id);
    offset += sizeof id;
  }
  return kDone;
}

CommandStatus namespace_descriptors(Controller& controller, Exchange& exchange) {
  const Namespace* found = controller.find_namespace(exchange.sqe.namespace_id);
  if (found == nullptr) return refuse(StatusCode::kInvalidNamespace);
  // Each: type, length, two reserved bytes, then the identity.
  DataPage page(exchange.out);
  page.put<std::uint8_t>(0, 2);  // NGUID
  page.put<std::uint8_t>(1, 16);
  page.put_bytes(4, found->nguid);
  page.put<std::uint8_t>(20, 3);  // UUID
  page.put<std::uint8_t>(21, 16);
  page.put_bytes(24, found->uuid);
  page.put<std::uint8_t>(40, 4);  // command set: 0, the NVM command set
  page.put<std::uint8_t>(41, 1);
  return kDone;
}

CommandStatus command_set_namespace(Controller& controller, Exchange& exchange) {
  if ((exchange.sqe.dword(11) >> 24) != 0) return refuse(StatusCode::kInvalidField);
  const Namespace* found = controller.find_namespace(exchange.sqe.namespace_id);
  if (found == nullptr) return refuse(StatusCode::kInvalidNamespace);
  const DataPage page(exchange.out);
  return kDone;
}

CommandStatus command_set_controller(Controller& controller, Exchange& exchange) {
  if ((exchange.sqe.dword(11) >> 24) != 0) return refuse(StatusCode::kInvalidField);
  DataPage page(exchange.out);
  const TargetLimits& limits = controller.subsystem().limits();
  page.put<std::uint8_t>(1, transfer_exponent(limits.transfer_bytes_max));  // WZSL
  return kDone;
}

CommandStatus command_set_active_namespaces(Controller& controller, Exchange& exchange) {
  if ((exchange.sqe.dword(11) >> 24) != 0) return refuse(StatusCode::kInvalidField);
  return active_namespaces(controller, exchange);
}

CommandStatus independent_namespace(Controller& controller, Exchange& exchange) {
  const Namespace* found = controller.find_namespace(exchange.sqe.namespace_id);
  if (found == nullptr) return refuse(StatusCode::kInvalidNamespace);
  DataPage page(exchange.out);
  page.put<std::uint8_t>(1, 1);                     // NMIC
  page.put<std::uint8_t>(2, kReservationAllTypes);  // RESCAP
  if (found->read_only()) page.put<std::uint8_t>(8, 1);
  page.put<std::uint8_t>(14, 1);  // NSTAT: ready
  return kDone;
}

struct IdentifyPage {
  IdentifyKind kind;
  bool discovery;
  CommandStatus (*fill)(Controller& controller, Exchange& exchange);
};
constexpr std::array<IdentifyPage, 8> kIdentifyPages{{
    {IdentifyKind::kNamespace, false, identify_namespace},
    {IdentifyKind::kController, true, identify_controller},
    {IdentifyKind::kActiveNamespaces, false, active_namespaces},
    {IdentifyKind::kNamespaceDescriptors, false, namespace_descriptors},
    {IdentifyKind::kCommandSetNamespace, false, command_set_namespace},
    {IdentifyKind::kCommandSetController, false, command_set_controller},
    {IdentifyKind::kCommandSetActiveNamespaces, false, command_set_active_namespaces},
    {IdentifyKind::kIndependentNamespace, false, independent_namespace},
}};

}  // namespace

Progress run_identify(Controller& controller, Exchange& exchange) {
  if (exchange.out.size() != kIdentifyBytes) {
    return end_with(exchange, refuse(StatusCode::kSglLengthInvalid));
  }
  const auto kind = static_cast<IdentifyKind>(exchange.sqe.dword(10) & 0xFF);
  const auto page = std::ranges::find_if(kIdentifyPages, [&](const IdentifyPage& known) {
    return known.kind == kind && (known.discovery || !controller.discovery());
  });
  if (page == kIdentifyPages.end()) return end_with(exchange, refuse(StatusCode::kInvalidField));
  return end_with(exchange, page->fill(controller, exchange));
}

}  // namespace forebay::nvme::target

// Get Log Page (Base Specification 2.0, 5.16): a page is made whole, then the part that was asked
// for is copied.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/version.h"
#include "nvme/data_page.h"
#include "nvme/target/admin.h"
#include "nvme/target/io_plan.h"
#include "nvme/target/reservation_commands.h"

namespace forebay::nvme::target {
namespace {

using Page = std::vector<std::byte>;
constexpr std::size_t kErrorEntryBytes = 64;
constexpr std::uint32_t kSupported = 1;  // LSUPP, CSUPP

[[nodiscard]] bool keeps_event(const Exchange& exchange) {  // RAE
  return (exchange.sqe.dword(10) & (1U << 15)) != 0;
}

Page supported_pages(Controller& controller, Exchange& exchange);

// No command that failed is kept: its status went to the host with it.
Page errors(Controller&, Exchange&) { return Page(kErrorEntryBytes); }

Page health(Controller& controller, Exchange&) {
  Page bytes(512);
  DataPage page(bytes);
  constexpr std::uint64_t kUnitBytes = 512'000;  // data units are thousands of 512 bytes
  const IoTotals& totals = controller.totals;
  page.put<std::uint16_t>(1, 300);  // kelvin: there is no sensor, and 0 would be an alarm
  page.put<std::uint8_t>(3, 100);   // available spare
  page.put<std::uint64_t>(32, divide_up(totals.read_bytes, kUnitBytes));
  page.put<std::uint64_t>(48, divide_up(totals.write_bytes, kUnitBytes));
  page.put<std::uint64_t>(64, totals.read_commands);
  page.put<std::uint64_t>(80, totals.write_commands);
  return bytes;
}

Page firmware_slots(Controller&, Exchange&) {
  Page bytes(512);
  DataPage page(bytes);
  page.put<std::uint8_t>(0, 1);  // the first slot is active
  page.put_text(8, 8, version());
  return bytes;
}

Page changed_namespaces(Controller& controller, Exchange& exchange) {
  Page bytes(kChangedNamespacesMax * sizeof(std::uint32_t));
  DataPage page(bytes);
  const auto& changed = controller.changed_namespaces();
  if (changed.size() > kChangedNamespacesMax) {
    page.put(0, kBroadcastNamespace);
  } else {
    std::size_t offset = 0;
    for (const std::uint32_t id : changed) {
      page.put(offset, id);
      offset += sizeof id;
    }
  }
  if (!keeps_event(exchange)) {
    controller.forget_changed_namespaces();
    controller.unmask(kNamespaceEvent);
  }
  return bytes;
}

Page command_effects(Controller&, Exchange&) {
  constexpr std::size_t kIoAt = 1024;
  Page bytes(4096);
  DataPage page(bytes);
  for (const AdminCommand& command : admin_commands()) {
    page.put(static_cast<std::size_t>(command.opcode) * 4, kSupported);
  }
  for (const IoCommand& command : io_commands()) {
    page.put(kIoAt + static_cast<std::size_t>(command.opcode) * 4, command.effects);
  }
  for (const ReservationCommand& command : reservation_commands()) {
    page.put(kIoAt + static_cast<std::size_t>(command.opcode) * 4, kSupported);
  }
  return bytes;
}

Page discovery(Controller& controller, Exchange& exchange) {
  if (!keeps_event(exchange)) controller.unmask(kDiscoveryEvent);
  return controller.subsystem().discovery_log(controller.host().nqn);
}

struct LogPage {
  LogPageId id;
  bool discovery;  // of a discovery controller
  bool nvm;
  Page (*make)(Controller& controller, Exchange& exchange);
};
constexpr std::array<LogPage, 7> kLogPages{{
    {LogPageId::kSupportedPages, true, true, supported_pages},
    {LogPageId::kErrors, true, true, errors},
    {LogPageId::kHealth, false, true, health},
    {LogPageId::kFirmwareSlot, false, true, firmware_slots},
    {LogPageId::kChangedNamespaces, false, true, changed_namespaces},
    {LogPageId::kCommandEffects, false, true, command_effects},
    {LogPageId::kDiscovery, true, false, discovery},
}};

[[nodiscard]] bool has_page(const Controller& controller, const LogPage& page) {
  return controller.discovery() ? page.discovery : page.nvm;
}

Page supported_pages(Controller& controller, Exchange&) {
  Page bytes(1024);
  DataPage page(bytes);
  for (const LogPage& known : kLogPages) {
    if (has_page(controller, known)) page.put(static_cast<std::size_t>(known.id) * 4, kSupported);
  }
  return bytes;
}

// NUMD in dwords 10 and 11, from 0.
std::uint64_t asked_bytes(const Sqe& sqe) {
  const std::uint64_t dwords = (sqe.dword(10) >> 16) | ((sqe.dword(11) & 0xFFFFULL) << 16);
  return (dwords + 1) * 4;
}

}  // namespace

Progress run_get_log_page(Controller& controller, Exchange& exchange) {
  const auto id = static_cast<LogPageId>(exchange.sqe.dword(10) & 0xFF);
  const auto page = std::ranges::find_if(kLogPages, [&](const LogPage& known) {
    return known.id == id && has_page(controller, known);
  });
  if (page == kLogPages.end()) return end_with(exchange, refuse(StatusCode::kInvalidLogPage));
  if (asked_bytes(exchange.sqe) != exchange.out.size()) {
    return end_with(exchange, refuse(StatusCode::kSglLengthInvalid));
  }
  const std::uint64_t offset = exchange.sqe.qword(12);
  if (offset % 4 != 0) return end_with(exchange, refuse(StatusCode::kInvalidField));
  const Page bytes = page->make(controller, exchange);
  if (offset > bytes.size()) return end_with(exchange, refuse(StatusCode::kInvalidField));
  // Behind the page's end there are zeroes, never what else memory holds.
  const std::size_t size = std::min<std::size_t>(exchange.out.size(), bytes.size() - offset);
  if (size != 0) std::memcpy(exchange.out.data(), bytes.data() + offset, size);
  return end_with(exchange, kDone);
}

}  // namespace forebay::nvme::target

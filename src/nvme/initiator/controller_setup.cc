#include "nvme/initiator/controller_setup.h"

#include <algorithm>
#include <cstring>

#include "core/bytes.h"
#include "nvme/data_page.h"
#include "nvme/property_command.h"
#include "nvme/reservation.h"

namespace forebay::nvme::initiator {
namespace {

// Of one command, whatever the controller takes: others get their turn.
constexpr std::uint32_t kTransferBytesMax = 1 << 20;
constexpr std::uint32_t kCapsuleBytes = 64;  // of the command in IOCCSZ
constexpr unsigned kBlockBitsMin = 9;
constexpr unsigned kBlockBitsMax = 16;

// CC (3.1.3.5): entries of 64 and 16 bytes, pages of 4 KiB, enabled.
constexpr std::uint32_t kEnabled = 0x460001;
constexpr std::uint32_t kAllCommandSets = 6U << 4;  // CSS, where NVM alone cannot be chosen

}  // namespace

std::string_view to_string(SetupState state) {
  constexpr std::array<std::string_view, 7> kNames{
      "read capabilities",  "enable", "await ready", "identify controller", "count queues",
      "identify namespace", "done"};
  return kNames[static_cast<std::size_t>(state)];
}

ControllerSetup::ControllerSetup(const SetupWishes& wishes)
    : wishes_(wishes), page_(std::make_unique<std::byte[]>(kIdentifyBytes)) {
  page_piece_ = {page_.get(), kIdentifyBytes};
}

template <class T>
T ControllerSetup::field(std::size_t offset) const {
  return load_as<T>(std::span(page_.get(), kIdentifyBytes).subspan(offset, sizeof(T)));
}

void ControllerSetup::ask_identify(std::uint8_t kind, std::uint32_t namespace_id) {
  command_.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kIdentify);
  command_.sqe.namespace_id = namespace_id;
  command_.sqe.dwords10[0] = kind;
  command_.direction = DataDirection::kToHost;
  command_.data_bytes = kIdentifyBytes;
  command_.pieces = {&page_piece_, 1};
}

void ControllerSetup::prepare() {
  command_.sqe = Sqe{};
  command_.direction = DataDirection::kNone;
  command_.data_bytes = 0;
  command_.pieces = {};
  std::fill_n(page_.get(), kIdentifyBytes, std::byte{0});
  switch (state_) {
    case SetupState::kReadCapabilities:
      command_.sqe = property_get(Property::kCapabilities, PropertySize::k8Bytes);
      return;
    case SetupState::kEnable:
      command_.sqe = property_set(Property::kConfiguration, configuration_);
      return;
    case SetupState::kAwaitReady:
      command_.sqe = property_get(Property::kStatus);
      return;
    case SetupState::kIdentifyController:
      return ask_identify(static_cast<std::uint8_t>(IdentifyKind::kController), 0);
    case SetupState::kCountQueues: {
      const std::uint32_t last = std::max<std::uint32_t>(wishes_.io_queues, 1) - 1;
      command_.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kSetFeatures);
      command_.sqe.dwords10[0] = static_cast<std::uint32_t>(FeatureId::kQueueCount);
      command_.sqe.dwords10[1] = (last << 16) | last;  // submission and completion, from 0
      return;
    }
    case SetupState::kIdentifyNamespace:
      return ask_identify(static_cast<std::uint8_t>(IdentifyKind::kNamespace),
                          wishes_.namespace_id);
    case SetupState::kDone:
      return;
  }
}

Status ControllerSetup::take() {
  if (!command_.result) return std::unexpected(command_.result.error());
  switch (state_) {
    case SetupState::kReadCapabilities:
      return take_capabilities();
    case SetupState::kEnable:
      state_ = SetupState::kAwaitReady;
      return {};
    case SetupState::kAwaitReady:
      return take_ready();
    case SetupState::kIdentifyController:
      return take_controller();
    case SetupState::kCountQueues:
      return take_queue_count();
    case SetupState::kIdentifyNamespace:
      return take_namespace();
    case SetupState::kDone:
      return {};
  }
  return {};
}

// CAP (3.1.3.1).
Status ControllerSetup::take_capabilities() {
  const std::uint64_t capabilities = *command_.result;
  constexpr std::uint64_t kNvmSet = 1ULL << 37;
  constexpr std::uint64_t kManySets = 1ULL << 43;
  const auto page_bits = static_cast<unsigned>(12 + ((capabilities >> 48) & 0xF));
  facts_.entries_max = static_cast<std::uint32_t>(capabilities & 0xFFFF) + 1;
  facts_.ready_time_max = std::chrono::milliseconds(500 * ((capabilities >> 24) & 0xFF));
  page_bytes_ = 1U << page_bits;
  if ((capabilities & (kNvmSet | kManySets)) == 0) {
    return fail(Errc::kUnsupported, "nvme: the controller has no NVM command set");
  }
  if (facts_.entries_max < 2) {
    return fail(Errc::kUnsupported, "nvme: the controller's queues have no room for a command");
  }
  configuration_ = kEnabled | ((page_bits - 12) << 7);
  if ((capabilities & kNvmSet) == 0) configuration_ |= kAllCommandSets;
  state_ = SetupState::kEnable;
  return {};
}

// CSTS (3.1.3.6).
Status ControllerSetup::take_ready() {
  constexpr std::uint64_t kReady = 1;
  constexpr std::uint64_t kFatal = 2;
  if ((*command_.result & kFatal) != 0) {
    return fail(Errc::kIo, "nvme: the controller reports a fatal state");
  }
  if ((*command_.result & kReady) != 0) state_ = SetupState::kIdentifyController;
  return {};
}

// Identify Controller (5.17.2.1); bytes from 1792 on are of fabrics.
Status ControllerSetup::take_controller() {
  const auto transfer_power = field<std::uint8_t>(77);    // MDTS
  const auto capsule_units = field<std::uint32_t>(1792);  // IOCCSZ, of 16 bytes
  if (field<std::uint16_t>(78) != wishes_.controller_id) {
    return fail(Errc::kIo, "nvme: Identify names another controller than Connect");
  }
  if ((field<std::uint32_t>(536) & 3) == 0) {
    return fail(Errc::kUnsupported, "nvme: the controller takes no SGLs");
  }
  if (capsule_units < kCapsuleBytes / 16 || field<std::uint16_t>(1800) != 0) {
    return fail(Errc::kUnsupported, "nvme: the controller's capsules are too small, or offset");
  }
  facts_.abort_count_max = field<std::uint8_t>(258) + 1U;  // ACL, from 0
  facts_.keeps_alive = field<std::uint16_t>(320) != 0;
  facts_.namespace_events = (field<std::uint32_t>(92) & (1U << 8)) != 0;  // OAES
  facts_.deallocates = (field<std::uint16_t>(520) & 4) != 0;              // ONCS
  facts_.reserves = (field<std::uint16_t>(520) & kReservationCommands) != 0;
  facts_.volatile_cache = (field<std::uint8_t>(525) & 1) != 0;
  facts_.capsule_data_bytes_max = std::min<std::uint32_t>(capsule_units, 1 << 20) * 16 - 64;
  facts_.transfer_bytes_max = kTransferBytesMax;
  if (transfer_power != 0 && transfer_power < 20) {
    facts_.transfer_bytes_max = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(kTransferBytesMax, std::uint64_t{page_bytes_} << transfer_power));
  }
  const std::string_view model(reinterpret_cast<const char*>(page_.get()) + 24, 40);
  for (const char letter : model) facts_.model += letter >= ' ' && letter <= '~' ? letter : ' ';
  facts_.model.resize(facts_.model.find_last_not_of(' ') + 1);
  state_ = SetupState::kCountQueues;
  return {};
}

Status ControllerSetup::take_queue_count() {
  const auto granted = static_cast<std::uint32_t>(
      std::min(*command_.result & 0xFFFF, (*command_.result >> 16) & 0xFFFF) + 1);
  facts_.io_queues = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(granted, std::max<std::uint16_t>(wishes_.io_queues, 1)));
  state_ = SetupState::kIdentifyNamespace;
  return {};
}

// Identify Namespace (NVM Command Set 1.0, 4.1.5.1). One that is not active is all zeroes.
Status read_namespace(std::span<const std::byte> page, ControllerFacts& facts) {
  const auto byte_at = [page](std::size_t offset) {
    return load_as<std::uint8_t>(page.subspan(offset));
  };
  facts.block_count = load_as<std::uint64_t>(page);  // NSZE
  if (facts.block_count == 0) {
    return fail(Errc::kNotFound, "nvme: the subsystem has no active namespace of that number");
  }
  const auto formatted = byte_at(26);  // FLBAS: bits 3:0, and 6:5 above them
  const std::size_t format = (formatted & 0xFU) | ((formatted & 0x60U) >> 1);
  const auto metadata_bytes = load_as<std::uint16_t>(page.subspan(128 + 4 * format));
  const auto block_bits = byte_at(128 + 4 * format + 2);
  if (metadata_bytes != 0) {
    return fail(Errc::kUnsupported, "nvme: the namespace is formatted with metadata");
  }
  if (block_bits < kBlockBitsMin || block_bits > kBlockBitsMax ||
      facts.block_count > (~std::uint64_t{0} >> block_bits)) {
    return fail(Errc::kUnsupported, "nvme: the namespace's block size is not 512 to 64 KiB");
  }
  facts.block_bytes = 1U << block_bits;
  if ((byte_at(31) & kReservationWriteExclusive) == 0) facts.reserves = false;
  facts.write_protected = (byte_at(99) & 1) != 0;  // NSATTR
  facts.nguid = load_as<Uuid>(page.subspan(104));
  facts.cache_epoch = {};
  if (load_as<std::uint64_t>(page.subspan(kCacheEpochMarkAt)) == kCacheEpochMark) {
    facts.cache_epoch = load_as<CacheEpoch>(page.subspan(kCacheEpochAt));
  }
  return {};
}

Status ControllerSetup::take_namespace() {
  FOREBAY_TRY_STATUS(read_namespace({page_.get(), kIdentifyBytes}, facts_));
  state_ = SetupState::kDone;
  return {};
}

}  // namespace forebay::nvme::initiator

// Numbers of commands, features, log pages and Identify data structures, with printable names
// (NVM Express Base Specification 2.0, figures of sections 3.1, 5 and 6; NVM Command Set 1.0, 3).
#pragma once

#include <cstdint>
#include <string>

namespace forebay::nvme {

enum class AdminOpcode : std::uint8_t {
  kGetLogPage = 0x02,
  kIdentify = 0x06,
  kAbort = 0x08,
  kSetFeatures = 0x09,
  kGetFeatures = 0x0A,
  kAsyncEvent = 0x0C,
  kKeepAlive = 0x18,
};

enum class IoOpcode : std::uint8_t {
  kFlush = 0x00,
  kWrite = 0x01,
  kRead = 0x02,
  kCompare = 0x05,
  kWriteZeroes = 0x08,
  kDatasetManagement = 0x09,
  kReservationRegister = 0x0D,
  kReservationReport = 0x0E,
  kReservationAcquire = 0x11,
  kReservationRelease = 0x15,
};

// On every queue; the type is the lowest byte of the namespace field.
inline constexpr std::uint8_t kFabricsOpcode = 0x7F;
enum class FabricsType : std::uint8_t {
  kPropertySet = 0x00,
  kConnect = 0x01,
  kPropertyGet = 0x04,
  kAuthSend = 0x05,
  kAuthReceive = 0x06,
  kDisconnect = 0x08,
};

enum class FeatureId : std::uint8_t {
  kVolatileWriteCache = 0x06,
  kQueueCount = 0x07,
  kAsyncEvents = 0x0B,
  kKeepAliveTimer = 0x0F,
  kHostId = 0x81,
};

enum class LogPageId : std::uint8_t {
  kSupportedPages = 0x00,
  kErrors = 0x01,
  kHealth = 0x02,
  kFirmwareSlot = 0x03,
  kChangedNamespaces = 0x04,
  kCommandEffects = 0x05,
  kDiscovery = 0x70,
};

// CNS of Identify.
enum class IdentifyKind : std::uint8_t {
  kNamespace = 0x00,
  kController = 0x01,
  kActiveNamespaces = 0x02,
  kNamespaceDescriptors = 0x03,
  kCommandSetNamespace = 0x05,
  kCommandSetController = 0x06,
  kCommandSetActiveNamespaces = 0x07,
  kIndependentNamespace = 0x08,
};

// Offsets of the properties that a fabrics controller has (3.1.3).
enum class Property : std::uint32_t {
  kCapabilities = 0x00,
  kVersion = 0x08,
  kConfiguration = 0x14,
  kStatus = 0x1C,
};

// "Identify", "Read", "Property Get", or "opcode 0x9f": for logs.
[[nodiscard]] std::string admin_command_name(std::uint8_t opcode, std::uint8_t fabrics_type);
[[nodiscard]] std::string io_command_name(std::uint8_t opcode, std::uint8_t fabrics_type);

}  // namespace forebay::nvme

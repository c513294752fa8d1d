#include "nvme/opcode.h"

#include <fmt/core.h>

#include <span>
#include <string_view>

namespace forebay::nvme {
namespace {

struct Named {
  std::uint8_t number;
  std::string_view name;
};

constexpr Named kAdminNames[] = {{0x02, "Get Log Page"}, {0x06, "Identify"},
                                 {0x08, "Abort"},        {0x09, "Set Features"},
                                 {0x0A, "Get Features"}, {0x0C, "Async Event Request"},
                                 {0x18, "Keep Alive"}};
constexpr Named kIoNames[] = {{0x00, "Flush"},
                              {0x01, "Write"},
                              {0x02, "Read"},
                              {0x05, "Compare"},
                              {0x08, "Write Zeroes"},
                              {0x09, "Dataset Management"},
                              {0x0D, "Reservation Register"},
                              {0x0E, "Reservation Report"},
                              {0x11, "Reservation Acquire"},
                              {0x15, "Reservation Release"}};
constexpr Named kFabricsNames[] = {{0x00, "Property Set"},           {0x01, "Connect"},
                                   {0x04, "Property Get"},           {0x05, "Authentication Send"},
                                   {0x06, "Authentication Receive"}, {0x08, "Disconnect"}};

std::string find_name(std::span<const Named> names, std::uint8_t number, std::string_view kind) {
  for (const Named& named : names) {
    if (named.number == number) return std::string(named.name);
  }
  return fmt::format("{} {:#04x}", kind, number);
}

}  // namespace

std::string admin_command_name(std::uint8_t opcode, std::uint8_t fabrics_type) {
  if (opcode == kFabricsOpcode) return find_name(kFabricsNames, fabrics_type, "Fabrics type");
  return find_name(kAdminNames, opcode, "opcode");
}

std::string io_command_name(std::uint8_t opcode, std::uint8_t fabrics_type) {
  if (opcode == kFabricsOpcode) return find_name(kFabricsNames, fabrics_type, "Fabrics type");
  return find_name(kIoNames, opcode, "opcode");
}

}  // namespace forebay::nvme

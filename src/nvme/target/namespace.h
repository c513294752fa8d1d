// A namespace: a device under a number, with an identity that outlives the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "block/device.h"
#include "nvme/cache_epoch.h"
#include "nvme/identity.h"
#include "nvme/target/host_list.h"
#include "nvme/target/reservations.h"

namespace forebay::nvme::target {

struct Namespace {
  std::uint32_t id = 1;             // NSID, from 1
  block::Device* device = nullptr;  // outlives the target
  Uuid uuid{};                      // equal on all paths and after a restart
  Uuid nguid{};                  // likewise, but another one where another disk has taken the name
  bool write_protected = false;  // hosts may only read, whatever the device can
  CacheEpoch cache_epoch{};      // equal as long as no power failure can have taken the cache
  HostList hosts;                // of those that the subsystem admits, who sees it
  std::unique_ptr<Reservations> reservations = std::make_unique<Reservations>();

  [[nodiscard]] bool read_only() const { return write_protected || device->geometry().read_only; }
  // A logical block is what the device can address.
  [[nodiscard]] std::uint32_t block_bytes() const { return device->geometry().align_bytes; }
  [[nodiscard]] std::uint64_t block_count() const {
    return device->geometry().size_bytes / block_bytes();
  }
};

// The same names give the same identity (a version 8 UUID of their SHA-256).
[[nodiscard]] Uuid make_uuid(std::string_view nqn, std::uint32_t namespace_id);

}  // namespace forebay::nvme::target

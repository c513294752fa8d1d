#include "nvme/target/subsystem.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/hash.h"
#include "nvme/target/controller.h"

namespace forebay::nvme::target {
namespace {

std::string make_serial(std::string_view nqn) {
  const auto digest = sha256(std::as_bytes(std::span(nqn)));
  std::string serial;
  for (std::size_t i = 0; i < 10; ++i) serial += fmt::format("{:02X}", digest[i]);
  return serial;
}

}  // namespace

Subsystem::Subsystem(std::string nqn, SubsystemKind kind, TargetLimits limits)
    : nqn_(std::move(nqn)), kind_(kind), limits_(limits), serial_(make_serial(nqn_)) {}

Namespace& Subsystem::add_namespace(std::uint32_t id, block::Device& device) {
  Namespace& added = namespaces_[id];
  added = {};
  added.id = id;
  added.device = &device;
  added.uuid = make_uuid(nqn_, id);
  added.nguid = added.uuid;
  return added;
}

void Subsystem::announce(std::uint32_t id) {
  for (const auto& [number, held] : controllers_) {
    const auto controller = held.lock();
    if (controller && controller->find_namespace(id) != nullptr) controller->notify_namespace(id);
  }
}

void Subsystem::remove_namespace(std::uint32_t id) {
  std::vector<std::shared_ptr<Controller>> saw;
  for (const auto& [number, held] : controllers_) {
    const auto controller = held.lock();
    if (controller && controller->find_namespace(id) != nullptr) saw.push_back(controller);
  }
  namespaces_.erase(id);
  for (const auto& controller : saw) controller->notify_namespace(id);
}

const Namespace* Subsystem::find_namespace(std::uint32_t id) const {
  const auto found = namespaces_.find(id);
  return found == namespaces_.end() ? nullptr : &found->second;
}

Namespace* Subsystem::find_namespace(std::uint32_t id) {
  const auto found = namespaces_.find(id);
  return found == namespaces_.end() ? nullptr : &found->second;
}

std::shared_ptr<Controller> Subsystem::make_controller(const HostIdentity& host) {
  std::erase_if(controllers_, [](const auto& entry) { return entry.second.expired(); });
  if (controllers_.size() >= kControllerIdMax) return nullptr;
  do {
    last_id_ = last_id_ >= kControllerIdMax ? 1 : static_cast<std::uint16_t>(last_id_ + 1);
  } while (controllers_.contains(last_id_));
  auto controller = std::make_shared<Controller>(*this, last_id_, host);
  if (credentials != nullptr) {
    const auto known = credentials->find(host.nqn);
    if (known != credentials->end()) controller->credentials = known->second;
  }
  controllers_[last_id_] = controller;
  return controller;
}

std::shared_ptr<Controller> Subsystem::find_controller(std::uint16_t id) const {
  const auto found = controllers_.find(id);
  return found == controllers_.end() ? nullptr : found->second.lock();
}

std::size_t Subsystem::controller_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      controllers_, [](const auto& entry) { return !entry.second.expired(); }));
}

std::vector<std::uint16_t> Subsystem::controllers_of(const HostId& host) const {
  std::vector<std::uint16_t> ids;
  for (const auto& [id, held] : controllers_) {
    const auto controller = held.lock();
    if (controller && controller->host().id == host) ids.push_back(id);
  }
  return ids;
}

bool Subsystem::has_dying_controller(const HostIdentity& host) const {
  return std::ranges::any_of(controllers_, [&host](const auto& entry) {
    const auto controller = entry.second.lock();
    return controller && controller->dying() && controller->host() == host;
  });
}

}  // namespace forebay::nvme::target

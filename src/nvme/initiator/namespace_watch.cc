#include "nvme/initiator/namespace_watch.h"

#include <algorithm>
#include <span>

#include "core/bytes.h"
#include "nvme/data_page.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::uint32_t kNamespaceNotices = 1U << 8;  // feature 0Bh
constexpr std::uint32_t kAllNamespaces = 0xFFFFFFFF;

}  // namespace

std::string_view to_string(WatchState state) {
  constexpr std::array<std::string_view, 5> kNames{"enable", "wait", "read log", "identify", "off"};
  return kNames[static_cast<std::size_t>(state)];
}

NamespaceWatch::NamespaceWatch(std::uint32_t namespace_id, const ControllerFacts& facts)
    : namespace_id_(namespace_id),
      base_(facts),
      facts_(facts),
      page_(std::make_unique<std::byte[]>(kIdentifyBytes)) {
  piece_ = {page_.get(), kIdentifyBytes};
}

void NamespaceWatch::ask_page(AdminOpcode opcode) {
  std::fill_n(page_.get(), kIdentifyBytes, std::byte{0});
  command_.sqe.opcode = static_cast<std::uint8_t>(opcode);
  command_.direction = DataDirection::kToHost;
  command_.data_bytes = kIdentifyBytes;
  command_.pieces = {&piece_, 1};
}

void NamespaceWatch::prepare() {
  command_.sqe = Sqe{};
  command_.direction = DataDirection::kNone;
  command_.data_bytes = 0;
  command_.pieces = {};
  command_.untimed = state_ == WatchState::kWait;
  switch (state_) {
    case WatchState::kEnable:
      command_.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kSetFeatures);
      command_.sqe.dwords10[0] = static_cast<std::uint32_t>(FeatureId::kAsyncEvents);
      command_.sqe.dwords10[1] = kNamespaceNotices;
      return;
    case WatchState::kWait:
      command_.sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kAsyncEvent);
      return;
    case WatchState::kReadLog:
      ask_page(AdminOpcode::kGetLogPage);
      command_.sqe.namespace_id = kAllNamespaces;
      command_.sqe.dwords10[0] = log_page_ | ((kIdentifyBytes / 4 - 1) << 16);  // NUMDL, from 0
      return;
    case WatchState::kIdentify:
      ask_page(AdminOpcode::kIdentify);
      command_.sqe.namespace_id = namespace_id_;
      command_.sqe.dwords10[0] = static_cast<std::uint32_t>(IdentifyKind::kNamespace);
      return;
    case WatchState::kOff:
      return;
  }
}

bool NamespaceWatch::take() {
  const WatchState asked = state_;
  if (!command_.result) {
    state_ = WatchState::kOff;
    return false;
  }
  if (asked == WatchState::kEnable) state_ = WatchState::kIdentify;
  if (asked == WatchState::kWait) take_event();
  if (asked == WatchState::kReadLog) take_log();
  if (asked == WatchState::kIdentify) take_namespace();
  return asked == WatchState::kIdentify;
}

// Whatever the event, reading its page is what ends it.
void NamespaceWatch::take_event() {
  log_page_ = static_cast<std::uint8_t>((*command_.result >> 16) & 0xFF);
  state_ = WatchState::kReadLog;
}

void NamespaceWatch::take_log() {
  state_ = WatchState::kWait;
  if (log_page_ != static_cast<std::uint8_t>(LogPageId::kChangedNamespaces)) return;
  const std::span<const std::byte> page(page_.get(), kIdentifyBytes);
  for (std::size_t at = 0; at < page.size(); at += sizeof(std::uint32_t)) {
    const auto id = load_as<std::uint32_t>(page.subspan(at));
    if (id == 0) return;
    if (id == namespace_id_ || id == kAllNamespaces) state_ = WatchState::kIdentify;
  }
}

void NamespaceWatch::take_namespace() {
  state_ = WatchState::kWait;
  ControllerFacts facts = base_;
  const Status read = read_namespace({page_.get(), kIdentifyBytes}, facts);
  facts_ = facts;
  if (!read) facts_ = std::unexpected(read.error());
}

}  // namespace forebay::nvme::initiator

// One arm, opened: its devices and its backend, on the loop of one cell.
//
// Ownership: owns the device, and through the backend the store; borrows loop and meter. Threads:
// the loop's. Suspends: opening and closing. Errors: a sentence that names the step and the path.
#pragma once

#include <memory>
#include <string>

#include "engine/emulated.h"
#include "engine/kv_backend.h"
#include "joint/metered_device.h"
#include "joint/spec.h"

namespace forebay::joint {

struct RigOptions {
  const ArmSpec* arm = nullptr;
  std::string device;  // path or URL of the flash device
  std::string folder;  // for the files of kind files
  double scale = 1;
  std::uint64_t seed = 1;
  store::KeySpace space;
};

class Rig {
 public:
  Rig(io::Loop* loop, DeviceMeter* meter, RigOptions options)
      : loop_(loop), meter_(meter), options_(std::move(options)) {}

  // Opens device, store and backend; "" or what went wrong. Again after close().
  [[nodiscard]] Task<std::string> open();
  // Everything offered is where it will stay; the store is closed and can be opened again.
  [[nodiscard]] Task<void> close();
  // For good: the device gives back what it holds and takes nothing more, so that whatever waits
  // for it ends soon, with an error. What the store had not written is lost, as in a crash.
  void cut();
  [[nodiscard]] engine::KvBackend& backend() { return *backend_; }
  // One line: tiers and budgets as they are, "DRAM 1.0 GiB, flash 4.0 GiB on file:..."
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  [[nodiscard]] std::uint64_t scaled(std::uint64_t bytes) const;
  [[nodiscard]] std::string open_flash_device();
  [[nodiscard]] Task<std::string> open_store(bool flash);
  [[nodiscard]] Task<std::string> open_files();
  [[nodiscard]] Task<void> wait_for_device();

  io::Loop* loop_;
  DeviceMeter* meter_;
  RigOptions options_;
  std::unique_ptr<MeteredDevice> device_;  // outlives the store that borrows it
  std::unique_ptr<engine::KvBackend> backend_;
  std::string detail_;
  bool cut_ = false;
};

}  // namespace forebay::joint

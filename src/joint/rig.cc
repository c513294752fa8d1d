#include "joint/rig.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "block/device_url.h"
#include "block/throttled.h"
#include "core/bytes.h"
#include "core/log.h"
#include "engine/backend_files.h"
#include "engine/backend_none.h"
#include "engine/backend_store.h"

namespace forebay::joint {
namespace {

// Where a tier's size must be a whole number of pages.
constexpr std::uint64_t kPageBytes = 4096;
// How often a device that was cut off is looked at.
constexpr Nanos kLook = std::chrono::milliseconds(1);

std::string what_failed(const char* step, const std::string& where, const Error& error) {
  return where.empty() ? fmt::format("{}: {}", step, to_string(error))
                       : fmt::format("{} {}: {}", step, where, to_string(error));
}

}  // namespace

std::uint64_t Rig::scaled(std::uint64_t bytes) const {
  return round_down(scaled_bytes(bytes, options_.scale), kPageBytes);
}

std::string Rig::open_flash_device() {
  const std::uint64_t size_bytes = scaled(options_.arm->flash_bytes);
  auto device =
      block::open_device(*loop_, options_.device,
                         {.size_bytes = block::names_disk(options_.device) ? 0 : size_bytes,
                          .write = true,
                          .create = !block::names_disk(options_.device)});
  if (!device) return what_failed("open device", options_.device, device.error());
  const double rate = options_.arm->bytes_per_second / options_.scale;
  const bool throttled =
      rate > 0 || options_.arm->operations_per_second > 0 || options_.arm->latency_us > 0;
  if (throttled) {
    device = block::make_throttled(
        std::move(*device), {.read_bytes_per_second = rate,
                             .write_bytes_per_second = rate,
                             .operations_per_second = options_.arm->operations_per_second,
                             .latency = Nanos(std::llround(options_.arm->latency_us * 1e3))});
  }
  device_ = make_metered(std::move(*device), meter_);
  if (cut_) device_->cut();
  return "";
}

Task<std::string> Rig::open_store(bool flash) {
  store::StoreOptions options;
  options.dram_bytes = scaled(options_.arm->dram_bytes);
  // Engines pin their pools before they serve; clearing pages would be latency of the first blocks.
  options.dram_populated = true;
  options.policy = options_.arm->policy;
  options.admission = options_.arm->admission;
  options.seed = options_.seed;
  if (flash) {
    if (std::string failed = open_flash_device(); !failed.empty()) co_return failed;
    options.flash = device_.get();
    // A raw disk may hold somebody's data, so it is used only as a store that was made before.
    options.flash_options.format = !block::names_disk(options_.device);
    options.flash_options.seed = options_.seed;
  }
  auto store = co_await store::Store::open(loop_, std::move(options));
  if (!store) co_return what_failed("open store", flash ? options_.device : "", store.error());
  auto backend =
      engine::BackendStore::make(loop_, options_.arm->name, std::move(*store), options_.space);
  if (!backend) co_return what_failed("open store", "", backend.error());
  backend_ = std::move(*backend);
  detail_ = fmt::format("DRAM {}, policy {}", format_bytes(scaled(options_.arm->dram_bytes)),
                        options_.arm->policy);
  if (flash) {
    detail_ += fmt::format(
        ", flash {}{}, admission {}", format_bytes(device_->geometry().size_bytes),
        device_->geometry().direct ? "" : " (through the page cache)", options_.arm->admission);
  }
  co_return "";
}

Task<std::string> Rig::open_files() {
  std::unique_ptr<engine::BackendStore> dram;
  if (options_.arm->dram_bytes > 0) {
    if (std::string failed = co_await open_store(false); !failed.empty()) co_return failed;
    dram.reset(static_cast<engine::BackendStore*>(backend_.release()));
  }
  engine::FilesOptions files{.directory = options_.folder,
                             .capacity_bytes = scaled(options_.arm->flash_bytes),
                             .read_threads = options_.arm->read_threads,
                             .write_threads = options_.arm->write_threads,
                             .blocks_per_job = options_.arm->blocks_per_job};
  auto backend =
      engine::BackendFiles::make(loop_, options_.arm->name, std::move(files), std::move(dram));
  if (!backend) co_return what_failed("open folder", options_.folder, backend.error());
  detail_ = fmt::format("DRAM {}, files up to {}{}, {} threads to read, {} to write",
                        format_bytes(scaled(options_.arm->dram_bytes)),
                        format_bytes(scaled(options_.arm->flash_bytes)),
                        (*backend)->direct() ? "" : " (through the page cache)",
                        options_.arm->read_threads, options_.arm->write_threads);
  backend_ = std::move(*backend);
  co_return "";
}

Task<std::string> Rig::open() {
  if (options_.arm->kind == "dram") co_return co_await open_store(false);
  if (options_.arm->kind == "forebay") co_return co_await open_store(true);
  if (options_.arm->kind == "files") co_return co_await open_files();
  backend_ = std::make_unique<engine::BackendNone>();
  detail_ = "HBM only";
  co_return "";
}

void Rig::cut() {
  cut_ = true;
  if (device_) device_->cut();
}

// A store that gave up on its device (kTimedOut of Store::close()) leaves requests there, which a
// device must not go with.
Task<void> Rig::wait_for_device() {
  // close() may have ended inside the completion of the device's last request, and the devices on
  // the way up are not done with it: they go one turn later.
  co_await loop_->yield();
  if (!device_ || meter_->in_flight_requests == 0) co_return;
  log_warn(
      "{}: the store of arm {} is closed, its device still holds {} requests: they are cut off",
      options_.device, options_.arm->name, meter_->in_flight_requests);
  device_->cut();
  while (meter_->in_flight_requests > 0) co_await loop_->sleep_for(kLook);
  co_await loop_->yield();
}

Task<void> Rig::close() {
  if (backend_) {
    co_await backend_->drain();
    co_await backend_->close();
  }
  co_await wait_for_device();
  backend_.reset();
  device_.reset();
}

}  // namespace forebay::joint

// The C interface over an in-process store: each call drives the store's own loop until it is done.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "block/device.h"
#include "core/log.h"
#include "core/version.h"
#include "forebay/forebay.h"
#include "io/loop.h"
#include "nvme/initiator/device_scheme.h"
#include "store/store.h"

namespace {

using forebay::Errc;
using forebay::Nanos;
using forebay::store::BlockId;
using forebay::store::MissReason;

std::int32_t status_of(Errc code) { return -static_cast<std::int32_t>(code); }
std::int32_t status_of(const forebay::Status& status) {
  return status ? FOREBAY_OK : status_of(status.error().code);
}

static_assert(FOREBAY_INVALID == -static_cast<std::int32_t>(Errc::kInvalid));
static_assert(FOREBAY_TIMED_OUT == -static_cast<std::int32_t>(Errc::kTimedOut));
static_assert(FOREBAY_VERSION_MISMATCH == -static_cast<std::int32_t>(Errc::kVersion));
static_assert(sizeof(forebay_block_id) == sizeof(BlockId));

std::int32_t status_of(MissReason reason) {
  switch (reason) {
    case MissReason::kNone:
      return FOREBAY_OK;
    case MissReason::kAbsent:
      return FOREBAY_NOT_FOUND;
    case MissReason::kCorrupt:
      return FOREBAY_CORRUPT;
    case MissReason::kTimedOut:
      return FOREBAY_TIMED_OUT;
    case MissReason::kCancelled:
      return FOREBAY_CANCELLED;
    case MissReason::kDevice:
      return FOREBAY_IO;
    case MissReason::kBusy:
      return FOREBAY_BUSY;
    case MissReason::kLength:
      return FOREBAY_INVALID;
  }
  return FOREBAY_IO;
}

BlockId id_of(const forebay_block_id& id) {
  BlockId made;
  std::memcpy(made.digest.data(), id.digest, sizeof id.digest);
  return made;
}

std::vector<BlockId> ids_of(const forebay_block_id* ids, std::size_t count) {
  std::vector<BlockId> made(count);
  std::transform(ids, ids + count, made.begin(), id_of);
  return made;
}

std::int32_t first_failure(const forebay_block* blocks, std::size_t count) {
  const auto* end = blocks + count;
  const auto* found = std::find_if(blocks, end, [](const auto& b) { return b.status != 0; });
  return found == end ? FOREBAY_OK : found->status;
}

}  // namespace

// Destroyed from the bottom up: the store before its device, the device before its loop.
struct forebay_store {
  std::unique_ptr<forebay::io::Engine> engine;
  std::unique_ptr<forebay::io::Loop> loop;
  std::unique_ptr<forebay::block::Device> device;
  std::unique_ptr<forebay::store::Store> store;
  forebay::store::KeySpace space;
  forebay::store::SpaceId space_id;

  [[nodiscard]] Nanos deadline_after(std::uint64_t timeout_ns) const {
    const auto span = static_cast<std::int64_t>(
        std::min<std::uint64_t>(timeout_ns, forebay::kForever.count() / 2));
    return loop->now() + Nanos(span);
  }
};

namespace {

// The kinds of devices beside files, disks and stripes; once, from whichever thread comes first.
void add_device_schemes() {
  static const bool added = [] {
    forebay::block::add_device_scheme(forebay::nvme::initiator::kDeviceScheme);
    return true;
  }();
  (void)added;
}

forebay::Status open_parts(const forebay_store_options& options, forebay_store& parts) {
  add_device_schemes();
  FOREBAY_TRY(engine, forebay::io::make_engine(forebay::io::EngineChoice::kAuto));
  parts.engine = std::move(engine);
  parts.loop = std::make_unique<forebay::io::Loop>(*parts.engine);
  forebay::store::StoreOptions store_options;
  store_options.dram_bytes = options.dram_bytes;
  if (options.prefill_tokens_per_second > 0) {
    store_options.prefill_ns_per_token =
        Nanos(static_cast<std::int64_t>(1e9 / options.prefill_tokens_per_second));
  }
  if (options.flash != nullptr) {
    FOREBAY_TRY(device, forebay::block::open_device(*parts.loop, options.flash,
                                                    {.size_bytes = options.flash_bytes,
                                                     .write = true,
                                                     .create = options.flash_bytes != 0}));
    parts.device = std::move(device);
    store_options.flash = parts.device.get();
    store_options.flash_options.format = options.flash_bytes != 0;
  }
  FOREBAY_TRY(store, parts.loop->run(
                         forebay::store::Store::open(parts.loop.get(), std::move(store_options))));
  parts.store = std::move(store);
  parts.space = {options.tenant != nullptr ? options.tenant : "",
                 options.layout != nullptr ? options.layout : ""};
  FOREBAY_TRY(space, parts.store->register_space(parts.space));
  parts.space_id = space;
  return {};
}

}  // namespace

extern "C" {

const char* forebay_version(void) { return forebay::version().data(); }

const char* forebay_status_text(int32_t status) {
  return status == FOREBAY_OK ? "ok" : forebay::to_string(static_cast<Errc>(-status)).data();
}

int32_t forebay_store_open(const forebay_store_options* options, forebay_store** store) {
  if (store == nullptr) return FOREBAY_INVALID;
  *store = nullptr;
  if (options == nullptr || options->struct_bytes < sizeof *options) return FOREBAY_INVALID;
  auto parts = std::make_unique<forebay_store>();
  if (const auto opened = open_parts(*options, *parts); !opened) {
    forebay::log_error("open store {}: {}",
                       options->flash == nullptr ? "(dram only)" : options->flash,
                       forebay::to_string(opened.error()));
    return status_of(opened.error().code);
  }
  *store = parts.release();
  return FOREBAY_OK;
}

int32_t forebay_store_close(forebay_store* store) {
  if (store == nullptr) return FOREBAY_OK;
  const std::unique_ptr<forebay_store> parts(store);
  return status_of(parts->loop->run(parts->store->close()));
}

int32_t forebay_block_id_of(const forebay_store* store, const void* key, size_t key_bytes,
                            forebay_block_id* id) {
  if (store == nullptr || id == nullptr || (key == nullptr && key_bytes != 0)) {
    return FOREBAY_INVALID;
  }
  const BlockId made =
      forebay::store::make_block_id(store->space, {static_cast<const std::byte*>(key), key_bytes});
  std::memcpy(id->digest, made.digest.data(), sizeof id->digest);
  return FOREBAY_OK;
}

int32_t forebay_store_lookup(forebay_store* store, const forebay_block_id* chain, size_t count,
                             size_t* present_count, size_t* worth_count) {
  if (store == nullptr || (chain == nullptr && count != 0)) return FOREBAY_INVALID;
  const auto found = store->store->lookup(ids_of(chain, count), store->space_id);
  if (present_count != nullptr) *present_count = found.present_blocks;
  if (worth_count != nullptr) *worth_count = found.worth_blocks;
  return FOREBAY_OK;
}

int32_t forebay_store_get(forebay_store* store, forebay_block* blocks, size_t count,
                          uint64_t timeout_ns) {
  if (store == nullptr || (blocks == nullptr && count != 0)) return FOREBAY_INVALID;
  std::vector<forebay::store::GetItem> items(count);
  std::vector<iovec> pieces(count);
  for (std::size_t i = 0; i < count; ++i) {
    pieces[i] = {blocks[i].data, blocks[i].data_bytes};
    items[i].id = id_of(blocks[i].id);
    items[i].buffer.pieces = std::span(&pieces[i], 1);
  }
  (void)store->loop->run(store->store->get(
      items, {.space = store->space_id, .deadline = store->deadline_after(timeout_ns)}));
  for (std::size_t i = 0; i < count; ++i) blocks[i].status = status_of(items[i].miss);
  return first_failure(blocks, count);
}

int32_t forebay_store_put(forebay_store* store, forebay_block* blocks, size_t count,
                          uint64_t timeout_ns) {
  if (store == nullptr || (blocks == nullptr && count != 0)) return FOREBAY_INVALID;
  std::vector<forebay::store::PutItem> items(count);
  std::vector<iovec> pieces(count);
  for (std::size_t i = 0; i < count; ++i) {
    const forebay_block& block = blocks[i];
    pieces[i] = {block.data, block.data_bytes};
    items[i] = {.id = id_of(block.id),
                .parent = id_of(block.parent),
                .engine_key = {static_cast<const std::byte*>(block.key), block.key_bytes},
                .data = {.pieces = std::span(&pieces[i], 1), .owner = nullptr},
                .token_count = block.token_count,
                .chain_depth = block.chain_depth,
                .status = {}};
  }
  store->loop->run(store->store->put(
      items, {.space = store->space_id, .deadline = store->deadline_after(timeout_ns)}));
  for (std::size_t i = 0; i < count; ++i) blocks[i].status = status_of(items[i].status);
  return first_failure(blocks, count);
}

int32_t forebay_store_remove(forebay_store* store, const forebay_block_id* ids, size_t count,
                             uint64_t timeout_ns) {
  if (store == nullptr || (ids == nullptr && count != 0)) return FOREBAY_INVALID;
  const auto made = ids_of(ids, count);
  return status_of(store->loop->run(store->store->remove(
      made, {.space = store->space_id, .deadline = store->deadline_after(timeout_ns)})));
}

int32_t forebay_store_flush(forebay_store* store, uint64_t timeout_ns) {
  if (store == nullptr) return FOREBAY_INVALID;
  return status_of(
      store->loop->run(store->store->flush({.deadline = store->deadline_after(timeout_ns)})));
}

}  // extern "C"

// What a store command keeps alive: engine, loop, device and store, opened from its flags.
#pragma once

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "block/device.h"
#include "cli/command.h"
#include "io/engine.h"
#include "io/loop.h"
#include "store/store.h"

namespace forebay::cli {

// Whether the file at `path` is one of those that `url` names, by whatever name.
[[nodiscard]] bool names_store(const std::string& url, const std::string& path);

// Whether this process may write the files that `url` names; true where they are absent.
[[nodiscard]] bool takes_writes(const std::string& url);

// Destroyed from the bottom up.
struct OpenStore {
  std::vector<std::string> made;  // files that were not there before
  std::unique_ptr<io::Engine> engine;
  std::unique_ptr<io::Loop> loop;
  std::unique_ptr<block::Device> device;
  std::unique_ptr<store::Store> store;
};

struct OpenStoreOptions {
  // Makes and formats a store of this size where there is nothing: no file, or one that begins with
  // zeroes. What holds anything else is opened as it is, and refused when it is a store of another
  // size. 0: must exist.
  std::uint64_t size_bytes = 0;
  std::uint64_t dram_bytes = 0;
  // A block of this size must fit, or nothing is formatted. 0: none is meant.
  std::uint64_t data_bytes = 0;
  // Opened for reading: not one of its bytes changes, whatever state it is in. A block that does
  // not prove itself stays where it is, for `store verify`; else reading removes it.
  bool reads_only = false;
};

// Opens the device alone; null after printing why not.
[[nodiscard]] std::optional<OpenStore> open_flash_device(const std::string& url,
                                                         const OpenStoreOptions& options);
// Opens device and store; else the exit code, after printing why not, with the remedy.
[[nodiscard]] std::expected<OpenStore, int> open_store(const std::string& url,
                                                       const OpenStoreOptions& options);
// Closes the store; false after printing why not.
[[nodiscard]] bool close_store(OpenStore& opened);
// Of a store that came to nothing, the files that were made for it go again. After close_store().
void unmake_store(OpenStore opened);

// The size that --size asks for, 0 without it. Notes a mistake for an empty size and for 0.
[[nodiscard]] std::uint64_t asked_size(const Invocation& call);

inline constexpr Flag kTenantFlag{"--tenant", "NAME", "default", "tenant of the block"};
inline constexpr Flag kLayoutFlag{"--layout", "TEXT", "raw", "layout fingerprint of the block"};

// A digest as 64 hexadecimal digits.
[[nodiscard]] std::optional<store::BlockId> parse_block_id(const std::string& hex);

// Page-aligned memory for one block's bytes, as the store's calls want it.
class BlockBuffer {
 public:
  explicit BlockBuffer(std::size_t size_bytes);
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), piece_.iov_len}; }
  [[nodiscard]] store::LentBuffer lend() const { return {std::span(&piece_, 1), memory_}; }

 private:
  std::shared_ptr<std::byte> memory_;
  iovec piece_{};
};

// All bytes of the block, whose size the buffer has; kNone: they are there.
[[nodiscard]] store::MissReason load_block(OpenStore& opened, store::SpaceId space,
                                           const store::BlockId& id, const BlockBuffer& buffer);

}  // namespace forebay::cli

// The leaf device: a file or raw disk through the core's io::Engine.
//
// O_DIRECT where the file system allows, else the page cache, said once with the reason. Requests
// beyond the engine's queue wait here in order. Opened for writing it holds the file's lock alone,
// opened for reading it shares it: nobody reads or writes what another process writes. Alignment
// and size are probed by the engine.
#pragma once

#include <memory>
#include <string>

#include "block/device.h"

namespace forebay::block {

// `path` is opened (made, preallocated) as `options` say. kNotFound, kDenied, kExists (locked by
// another process), kNoSpace, kInvalid (too small to align).
[[nodiscard]] Result<std::unique_ptr<Device>> open_file_device(io::Loop& loop,
                                                               const std::string& path,
                                                               const OpenDevice& options);

}  // namespace forebay::block

// Memory that a caller lends to the store for one call: scattered pieces and whoever keeps them
// alive.
//
// A device may still write into a lent buffer after the call ended at its deadline. `owner` is held
// until the device let go, so the memory stays valid; a pool learns from the owner's deleter that
// the buffer may be used again. Threads: released on the store's core.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>

namespace forebay::store {

struct LentBuffer {
  std::span<const iovec> pieces;      // the array too must live as long as `owner`, or the call
  std::shared_ptr<const void> owner;  // may be null: then the call waits for the device to let go
};

}  // namespace forebay::store

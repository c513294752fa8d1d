#include "io/touch_ahead.h"

#include <sys/mman.h>

#include <utility>

namespace forebay::io {

void TouchAhead::start(std::vector<iovec> parts) {
  thread_ = std::jthread([parts = std::move(parts)](const std::stop_token& stop) {
    for (const iovec& part : parts) {
      if (stop.stop_requested()) return;
      (void)::madvise(part.iov_base, part.iov_len, MADV_POPULATE_WRITE);
    }
  });
}

}  // namespace forebay::io

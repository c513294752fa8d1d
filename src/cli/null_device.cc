#include "cli/null_device.h"

namespace forebay::cli {

// What callbacks submit waits for the next turn, as on a real device.
void NullDevice::end_all() {
  for (std::size_t left = ended_.size(); left > 0; --left) {
    block::Request& request = ended_.pop_front();
    request.done_bytes = static_cast<std::size_t>(request.length_bytes);
    request.on_done(request);
  }
  if (!ended_.empty() && !timer_.armed()) {
    loop_.arm(timer_, loop_.now(), [this] { end_all(); });
  }
}

}  // namespace forebay::cli

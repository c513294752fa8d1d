// What this machine copies in memory, in bytes a second: no network of a host gets there.
#pragma once

namespace forebay::cli {

[[nodiscard]] double copy_bytes_per_second();

}  // namespace forebay::cli

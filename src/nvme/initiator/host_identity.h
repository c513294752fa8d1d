// Who this host says it is when it connects.
#pragma once

#include <string>

#include "nvme/initiator/queue.h"

namespace forebay::nvme::initiator {

// `nqn`, or where that is empty the machine's own: a name that follows from /etc/machine-id, so
// that all processes of a machine are one host. The id follows from the name. Reads a file.
[[nodiscard]] HostIdentity host_identity(const std::string& nqn);

}  // namespace forebay::nvme::initiator

// Who this host says it is when it connects.
#pragma once

#include <string>

#include "nvme/initiator/queue.h"

namespace forebay::nvme::initiator {

// `nqn`, or where that is empty the machine's own: a name that follows from /etc/machine-id, so
// that a target's host list has one name for a machine. The id is new at each call: reservations
// are held by host identifiers, and must tell two processes of one machine, and two devices of one
// process, apart. Reads a file and the kernel's random numbers.
[[nodiscard]] HostIdentity host_identity(const std::string& nqn);

}  // namespace forebay::nvme::initiator

// A completion's status as the error that tells the caller what to do.
#pragma once

#include "core/error.h"
#include "nvme/status.h"

namespace forebay::nvme::initiator {

// `status` is not a success. Paths that are gone, and namespaces, are kGone; kInvalid is a command
// that the controller does not take; everything unknown is kIo.
[[nodiscard]] Error error_of(CommandStatus status);

}  // namespace forebay::nvme::initiator

// What one party knows of another: the secrets between them and what it will use them with.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "nvme/auth/method.h"
#include "nvme/auth/secret.h"

namespace forebay::nvme::auth {

struct Credentials {
  Secret host_key;                       // the host proves itself with it
  std::optional<Secret> controller_key;  // the controller does, when it is asked to
  Methods methods;
};

// A target's, by the hosts' NQNs.
using HostCredentials = std::map<std::string, std::shared_ptr<const Credentials>, std::less<>>;

struct Parties {
  std::string host_nqn;
  std::string subsystem_nqn;
};

}  // namespace forebay::nvme::auth

// Which hosts may have something, by their NQN.
//
// A name proves nothing: whoever reaches the port may claim it. It keeps hosts from taking each
// other's disks by mistake; authentication is what keeps out those who mean it. Pure.
#pragma once

#include <set>
#include <string>
#include <utility>

namespace forebay::nvme::target {

class HostList {
 public:
  // Admits every host.
  HostList() = default;
  // Admits these alone; nobody when there are none.
  [[nodiscard]] static HostList only(std::set<std::string> nqns) {
    HostList list;
    list.everybody_ = false;
    list.nqns_ = std::move(nqns);
    return list;
  }

  [[nodiscard]] bool admits(const std::string& host_nqn) const {
    return everybody_ || nqns_.contains(host_nqn);
  }

 private:
  bool everybody_ = true;
  std::set<std::string> nqns_;
};

}  // namespace forebay::nvme::target

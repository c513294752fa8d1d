// Has the kernel provide memory before it is used, from a thread of its own: clearing gigabytes
// takes seconds that whoever fills them should not wait for.
//
// Ownership: the memory is the caller's and must outlive this object. Threads: one owner; the
// contents are not changed. Blocking: start() never; the destructor until the part at hand is done.
#pragma once

#include <sys/uio.h>

#include <thread>
#include <vector>

namespace forebay::io {

class TouchAhead {
 public:
  // In the order given. Where the kernel refuses (before Linux 5.14) nothing happens: the pages
  // come when they are used. Not while an earlier start is under way.
  void start(std::vector<iovec> parts);

 private:
  std::jthread thread_;
};

}  // namespace forebay::io

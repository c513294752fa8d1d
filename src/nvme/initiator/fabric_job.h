// A block request on its way as one or more NVMe commands.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "block/device.h"
#include "nvme/initiator/connection.h"

namespace forebay::nvme::initiator {

class FabricDevice;

struct Job {
  block::Request* request = nullptr;
  ScatterCursor cursor;             // over the request's memory, as commands are cut from it
  std::uint64_t cut_bytes = 0;      // of the request, by now
  bool waiting = false;             // not cut to its end yet
  std::uint32_t command_count = 0;  // that were cut and are not over
  std::optional<Error> error;       // the first; no more is cut
  std::uint64_t serial = 0;         // of the use: jobs are recycled
  Job* next = nullptr;
};

struct Command {
  QueueCommand base;
  FabricDevice* device = nullptr;
  Job* job = nullptr;                // null: free
  Connection* connection = nullptr;  // null: waits to be sent (again)
  std::vector<iovec> pieces;
  DeallocateRange range;
  std::uint64_t flush_covers = 0;  // a flush: acknowledged writes that came before it
  unsigned attempts = 0;
  bool in_doubt = false;  // it may have taken effect on a connection that broke, or still may
  Command* next = nullptr;
};

}  // namespace forebay::nvme::initiator

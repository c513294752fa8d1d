#include "io/op.h"

namespace forebay::io {

const char* to_string(OpKind kind) {
  switch (kind) {
    case OpKind::kNop:
      return "nop";
    case OpKind::kRead:
      return "read";
    case OpKind::kWrite:
      return "write";
    case OpKind::kFlush:
      return "flush";
    case OpKind::kDiscard:
      return "discard";
    case OpKind::kAccept:
      return "accept";
    case OpKind::kConnect:
      return "connect";
    case OpKind::kReceive:
      return "receive";
    case OpKind::kSend:
      return "send";
  }
  return "unknown";
}

const char* to_string(OpState state) {
  switch (state) {
    case OpState::kIdle:
      return "idle";
    case OpState::kQueued:
      return "queued";
    case OpState::kInFlight:
      return "in_flight";
    case OpState::kCancelling:
      return "cancelling";
    case OpState::kDone:
      return "done";
  }
  return "unknown";
}

}  // namespace forebay::io

#include "core/error.h"

#include <cerrno>
#include <cstring>

namespace forebay {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::kInvalid:
      return "invalid";
    case Errc::kNotFound:
      return "not_found";
    case Errc::kExists:
      return "exists";
    case Errc::kBusy:
      return "busy";
    case Errc::kTimedOut:
      return "timed_out";
    case Errc::kCancelled:
      return "cancelled";
    case Errc::kCorrupt:
      return "corrupt";
    case Errc::kIo:
      return "io";
    case Errc::kNoSpace:
      return "no_space";
    case Errc::kReadOnly:
      return "read_only";
    case Errc::kGone:
      return "gone";
    case Errc::kUnsupported:
      return "unsupported";
    case Errc::kDenied:
      return "denied";
    case Errc::kVersion:
      return "version";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  std::string text = error.what;
  if (error.os != 0) {
    text += ": ";
    text += std::strerror(error.os);
  }
  text += " (";
  text += to_string(error.code);
  text += ")";
  return text;
}

Errc errc_from_errno(int os_code) {
  switch (os_code) {
    case EINVAL:
    case EBADF:
    case EFAULT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
      return Errc::kInvalid;
    case ENOENT:
      return Errc::kNotFound;
    case EEXIST:
      return Errc::kExists;
    case EAGAIN:
    case EBUSY:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return Errc::kBusy;
    case ETIME:
    case ETIMEDOUT:
      return Errc::kTimedOut;
    case ECANCELED:
      return Errc::kCancelled;
    case EBADMSG:
      return Errc::kCorrupt;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Errc::kNoSpace;
    case EROFS:
      return Errc::kReadOnly;
    case ENODEV:
    case ENXIO:
    case EPIPE:
    case ECONNRESET:
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ESHUTDOWN:
      return Errc::kGone;
    case EOPNOTSUPP:
    case ENOSYS:
      return Errc::kUnsupported;
    case EPERM:
    case EACCES:
      return Errc::kDenied;
    default:
      return Errc::kIo;
  }
}

}  // namespace forebay

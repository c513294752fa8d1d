#include "cli/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "cli/command.h"

namespace forebay::cli {
namespace {

std::error_code first_failure;

// fputs, not fmt::print: standard error may be the next that does not take it, and must not throw.
void say(const std::string& line) { (void)std::fputs((line + "\n").c_str(), stderr); }

int lost(int code, const std::error_code& why) {
  if (why != std::errc::broken_pipe) {
    say("standard output: not all could be written: " + why.message());
    say("  hint: is it open, and is there room where it goes?");
  }
  return code == kExitOk ? kExitFailed : code;
}

}  // namespace

void hold_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number, so this very one. The wrong direction: using it fails, as it would
    // have without.
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void output_failed(int error_number) {
  if (!first_failure) first_failure = std::error_code(error_number, std::generic_category());
}

int with_checked_output(const std::function<int()>& command) {
  int code = kExitOk;
  try {
    code = command();
  } catch (const std::system_error& error) {  // from fmt::print
    if (std::ferror(stdout) == 0) {
      say(std::string("forebay: ") + error.what());
      return kExitFailed;
    }
    output_failed(error.code().value());
  }
  if (std::fflush(stdout) != 0) output_failed(errno);
  if (std::ferror(stdout) != 0) output_failed(EIO);
  return first_failure ? lost(code, first_failure) : code;
}

}  // namespace forebay::cli

#include "cli/process_limit.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>

#include "cli/command.h"
#include "cli/part_file.h"
#include "cli/standard_error.h"
#include "core/bytes.h"

namespace forebay::cli {
namespace {

std::string memory_hint() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return "  hint: this machine or its container has no more memory: free some, or ask for less\n";
  }
  return fmt::format(
      "  hint: this process may use {} of address space (ulimit -v): raise it with `ulimit -v "
      "unlimited`\n",
      format_bytes(limit.rlim_cur));
}

std::string files_hint() {
  rlimit limit{};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);
  return fmt::format(
      "  hint: this process may have {} files open (ulimit -n): raise it with `ulimit -n 1024`\n",
      limit.rlim_cur);
}

std::string size_hint() {
  rlimit limit{};
  (void)::getrlimit(RLIMIT_FSIZE, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format(
      "  hint: a file of this process may have {} (ulimit -f): raise it with `ulimit -f "
      "unlimited`\n",
      format_bytes(limit.rlim_cur));
}

// Made before it is needed: there is no memory for it then.
std::string no_memory_text;

[[noreturn]] void end_without_memory() {
  (void)std::fputs(no_memory_text.c_str(), stderr);
  remove_unfinished_part();
  ::_exit(kExitFailed);
}

}  // namespace

std::string limit_hint(const Error& error) {
  if (error.os == EMFILE) return files_hint();
  if (error.os == ENOMEM) return memory_hint();
  if (error.os == EFBIG) return size_hint();
  return {};
}

void tell_failure(std::string_view what, const Error& error) {
  tell("{}: {}\n", what, to_string(error));
  tell_lines(limit_hint(error));
}

void explain_process_limits() {
  no_memory_text = "forebay: memory cannot be had\n" + memory_hint();
  std::set_new_handler(end_without_memory);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace forebay::cli

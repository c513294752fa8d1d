#include "cli/bench_guard.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/fio.h"

namespace forebay::cli {
namespace {

// Whatever ends a process that does nothing about it, and can be held.
constexpr std::array kPassedOn{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                               SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
// What fio may take to let go of its shared memory.
constexpr timespec kEndTime{.tv_sec = 3, .tv_nsec = 0};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kPassedOn) sigaddset(&set, number);
  sigaddset(&set, SIGCHLD);
  return set;
}

// Its status, as waitpid() gives it.
int wait_for(pid_t child, const sigset_t& watched) {
  while (true) {
    int number = 0;
    if (sigwait(&watched, &number) != 0) continue;
    if (number != SIGCHLD) {
      (void)::kill(child, number);
      continue;
    }
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return status;
  }
}

// Sends a signal to the programs that it had started, which are this process's children now.
void tell_orphans(int number) {
  std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (pid_t orphan = 0; list >> orphan;) (void)::kill(orphan, number);
}

// Of those that have ended; whether any is left.
bool take_orphans() {
  pid_t ended = 0;
  do ended = ::waitpid(-1, nullptr, WNOHANG);
  while (ended > 0);
  return ended == 0;
}

void end_orphans() {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  tell_orphans(SIGTERM);
  while (take_orphans()) {
    if (::sigtimedwait(&child_ended, nullptr, &kEndTime) < 0 && errno == EAGAIN) {
      tell_orphans(SIGKILL);
    }
  }
}

[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    ::signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    (void)::raise(number);
  }
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

}  // namespace

void guard_bench(const std::vector<std::string>& scratch) {
  const HugePageCount pages;
  const sigset_t watched = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  std::signal(SIGCHLD, SIG_DFL);
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child <= 0) {
    if (child == 0) (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  const int status = wait_for(child, watched);
  end_orphans();
  pages.restore();
  std::error_code ignored;
  for (const std::string& path : scratch) std::filesystem::remove_all(path, ignored);
  end_as(status);
}

}  // namespace forebay::cli

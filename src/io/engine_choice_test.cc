// Where io_uring is refused, the thread-pool engine takes over; the refusal here is a real one.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "io/engine.h"
#include "io/uring.h"

namespace forebay::io {
namespace {

// As a container's default profile does: io_uring_setup answers EPERM.
bool forbid_io_uring() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Runs `check` in a child, since a filter cannot be taken off; its exit code.
template <class Check>
int in_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kNoSeccomp = 77;

TEST(EngineChoice, FallsBackToThreadsWhereIoUringIsForbidden) {
  const int code = in_child([] {
    if (!forbid_io_uring()) return kNoSeccomp;
    const auto engine = make_engine(EngineChoice::kAuto);
    return engine && (*engine)->name() == "posix" ? 0 : 1;
  });
  if (code == kNoSeccomp) GTEST_SKIP() << "this kernel takes no seccomp filter";
  EXPECT_EQ(code, 0);
}

TEST(EngineChoice, TellsWhyAndDoesNotFallBackWhenUringIsDemanded) {
  const int code = in_child([] {
    if (!forbid_io_uring()) return kNoSeccomp;
    std::string why;
    const auto engine = make_uring_engine(64, &why);
    if (engine || engine.error().code != Errc::kUnsupported) return 1;
    if (why.find("seccomp") == std::string::npos) return 2;
    return make_engine(EngineChoice::kUring) ? 3 : 0;
  });
  if (code == kNoSeccomp) GTEST_SKIP() << "this kernel takes no seccomp filter";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace forebay::io

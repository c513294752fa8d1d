// Where io_uring is refused, the thread-pool engine takes over; the refusal here is a real one.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

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

bool refuses_uring() {
  std::string why;
  return !make_uring_engine(64, &why);
}

TEST(EngineChoice, FallsBackToThreadsWhereIoUringIsForbidden) {
  const int code = in_child([] {
    if (!forbid_io_uring()) return kNoSeccomp;
    const auto engine = make_engine(EngineChoice::kAuto);
    return engine && (*engine)->name() == "posix" ? 0 : 1;
  });
  if (code == kNoSeccomp) GTEST_SKIP() << "this kernel takes no seccomp filter";
  EXPECT_EQ(code, 0);
}

// The lines that `work` logs in a child where io_uring is forbidden.
std::vector<std::string> lines_without_uring(const std::string& path, void (*work)()) {
  const int code = in_child([&] {
    if (!forbid_io_uring()) return kNoSeccomp;
    if (std::freopen(path.c_str(), "w", stderr) == nullptr) return 1;
    work();
    return std::fflush(stderr) == 0 ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(EngineChoice, SaysInOneLineThatIoUringIsRefusedAndWhy) {
  if (in_child([] { return forbid_io_uring() ? 0 : kNoSeccomp; }) == kNoSeccomp) {
    GTEST_SKIP() << "this kernel takes no seccomp filter";
  }
  const std::string path = ::testing::TempDir() + "engine-choice-" + std::to_string(getpid());
  const auto lines = lines_without_uring(path, [] {
    for (int i = 0; i < 3; ++i) (void)make_engine(EngineChoice::kAuto);
  });
  unlink(path.c_str());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("io_uring: "), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("seccomp"), std::string::npos) << lines[0];
}

// With one descriptor left there is a ring, and nothing to wake it by.
TEST(EngineChoice, TellsWhyWhereDescriptorsRunOut) {
#if __has_feature(undefined_behavior_sanitizer)
  GTEST_SKIP() << "this sanitizer looks at memory through pipes: it needs descriptors of its own";
#endif
  const int code = in_child([] {
    const int next = dup(STDERR_FILENO);
    close(next);
    const auto left = static_cast<rlim_t>(next);
    rlimit all{};
    if (getrlimit(RLIMIT_NOFILE, &all) != 0) return 4;
    for (rlim_t descriptors = 0; descriptors < 2; ++descriptors) {
      const rlimit limit{left + descriptors, all.rlim_max};
      std::string why;
      if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
      const auto engine = make_uring_engine(64, &why);
      if (engine) return 2;
      if (why.find("Too many open files") == std::string::npos) return 3;
    }
    return 0;
  });
  if (code == 3 && refuses_uring()) GTEST_SKIP() << "io_uring is refused here for another reason";
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

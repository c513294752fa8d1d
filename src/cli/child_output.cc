#include "cli/child_output.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

extern char** environ;

namespace forebay::cli {
namespace {

// `output`: both of its streams.
Result<pid_t> spawn(const std::vector<std::string>& words, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::unexpected(error_from_errno(error, "start program"));
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<ChildOutput> run_program(const std::vector<std::string>& words) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return std::unexpected(error_from_errno(errno, "pipe"));
  const auto child = spawn(words, pipe[1]);
  ::close(pipe[1]);
  ChildOutput output;
  std::array<char, 16384> buffer{};
  while (child) {
    const ssize_t size = ::read(pipe[0], buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    output.text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  ::close(pipe[0]);
  if (!child) return std::unexpected(child.error());
  output.status = wait_for(*child);
  return output;
}

Result<BackgroundChild> BackgroundChild::start(const std::vector<std::string>& words) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return std::unexpected(error_from_errno(errno, "/dev/null"));
  const auto child = spawn(words, nowhere);
  ::close(nowhere);
  if (!child) return std::unexpected(child.error());
  return BackgroundChild(*child);
}

BackgroundChild::~BackgroundChild() {
  if (pid_ < 0) return;
  (void)::kill(pid_, SIGKILL);
  (void)wait_for(pid_);
}

}  // namespace forebay::cli

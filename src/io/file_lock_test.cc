#include "io/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "core/log.h"
#include "io/file_table.h"

namespace forebay::io {
namespace {

// A child process that holds the lock until it is told to let go.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    int held[2];
    int let_go[2];
    if (pipe(held) != 0 || pipe(let_go) != 0) std::abort();
    child_ = fork();
    if (child_ == 0) {
      close(let_go[1]);
      const int file = open(path.c_str(), O_RDWR);
      char byte = flock(file, LOCK_EX | LOCK_NB) == 0 ? 'y' : 'n';
      if (write(held[1], &byte, 1) != 1) _exit(1);
      _exit(read(let_go[0], &byte, 1) == 0 ? 0 : 1);  // the parent's end closes
    }
    close(held[1]);
    close(let_go[0]);
    let_go_ = let_go[1];
    char byte = 'n';
    holds_ = read(held[0], &byte, 1) == 1 && byte == 'y';
    close(held[0]);
  }
  ~Holder() { end(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  [[nodiscard]] bool holds() const { return holds_; }
  [[nodiscard]] pid_t pid() const { return child_; }
  void end() {
    if (!holds_) return;
    close(let_go_);
    waitpid(child_, nullptr, 0);
    holds_ = false;
  }

 private:
  pid_t child_ = 0;
  int let_go_ = -1;
  bool holds_ = false;
};

class FileLockTest : public ::testing::Test {
 protected:
  FileLockTest()
      : path_(::testing::TempDir() + "forebay-lock-" + std::to_string(getpid())),
        file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  ~FileLockTest() override {
    close(file_);
    unlink(path_.c_str());
  }
  std::string path_;
  int file_;
};

TEST_F(FileLockTest, AHolderThatEndsMeanwhileIsWaitedFor) {
  Holder holder(path_);
  ASSERT_TRUE(holder.holds());
  int waits = 0;
  const Status locked = lock_file(file_, LOCK_EX, [&] {
    ++waits;
    holder.end();
    return true;
  });
  EXPECT_TRUE(locked);
  EXPECT_EQ(waits, 1);
}

TEST_F(FileLockTest, AHolderThatStaysIsNamedAfterTheLastTry) {
  const Holder holder(path_);
  ASSERT_TRUE(holder.holds());
  int waits = 0;
  const Status locked = lock_file(file_, LOCK_EX, [&] { return ++waits < 3; });
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, Errc::kExists);
  EXPECT_EQ(waits, 3);
  // Not told on every file system (layered ones) and in every sandbox; never another process.
  EXPECT_EQ(lock_holder(file_).value_or(holder.pid()), holder.pid());
}

TEST_F(FileLockTest, TheWaitIsBounded) {
  const auto wait = wait_a_second();
  int waits = 0;
  while (waits < 1000 && wait()) ++waits;
  EXPECT_EQ(waits, 100);
}

TEST_F(FileLockTest, TheTableRefusesAFileOnlyAfterASecond) {
  set_log_level(LogLevel::kOff);
  const Holder holder(path_);
  ASSERT_TRUE(holder.holds());
  FileTable table;
  const auto begin = std::chrono::steady_clock::now();
  const auto opened = table.open(path_, {.write = true, .lock = FileLock::kExclusive});
  set_log_level(LogLevel::kInfo);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kExists);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(LockHolder, IsReadFromTheKernelsList) {
  // The lines of proc_locks(5), made up for one file and its neighbours.
  const std::string locks =
      "1: FLOCK  ADVISORY  WRITE 41 08:01:777 0 EOF\n"
      "2: POSIX  ADVISORY  WRITE 42 fe:1a:1234 0 EOF\n"
      "3: -> FLOCK  ADVISORY  WRITE 43 fe:1a:1234 0 EOF\n"
      "4: FLOCK  ADVISORY  READ 0 fe:1a:1234 0 EOF\n"
      "5: FLOCK  ADVISORY  WRITE 4711 fe:1a:1234 0 EOF\n";
  EXPECT_EQ(lock_holder_in(locks, 0xfe, 0x1a, 1234), 4711);
  EXPECT_EQ(lock_holder_in(locks, 0x08, 0x01, 777), 41);
  EXPECT_EQ(lock_holder_in(locks, 0xfe, 0x1a, 123), std::nullopt);
  EXPECT_EQ(lock_holder_in("", 1, 1, 1), std::nullopt);
}

TEST(LockHolder, LinesThatTheKernelWouldNotWriteNameNobody) {
  const std::string right = "7: FLOCK ADVISORY WRITE 42 01:01:1 0 EOF\n";
  ASSERT_EQ(lock_holder_in(right, 1, 1, 1), 42);
  for (const std::string line : {
           "5: FLOCK ADVISORY WRITE 9x 01:01:1 0 EOF",  // no number
           "5: FLOCK ADVISORY WRITE -9 01:01:1 0 EOF",  // of a process
           "5: FLOCK ADVISORY WRITE 99999999999999999999 01:01:1 0 EOF",
           "5: FLOCK ADVISORY WRITE 0x9 01:01:1 0 EOF",
           "5: FLOCK ADVISORY WRITE 9",  // cut short
           "5: FLOCK",
           "FLOCK ADVISORY WRITE 9 01:01:1 0 EOF",        // a word less
           "5: -> FLOCK ADVISORY WRITE 9 01:01:1 0 EOF",  // a word more
           "5: flock ADVISORY WRITE 9 01:01:1 0 EOF",
           "5: FLOCK ADVISORY WRITE 9 1:1:1 0 EOF",  // another spelling of the file
           "5: FLOCK ADVISORY WRITE 9 01:01:1:1 0 EOF",
           "5: FLOCK ADVISORY WRITE 9 01:01:11 0 EOF",
           " \t\r",
       }) {
    EXPECT_EQ(lock_holder_in(line, 1, 1, 1), std::nullopt) << line;
    // The line after it counts, and a zero byte or bytes beyond ASCII end nothing.
    EXPECT_EQ(lock_holder_in(line + std::string("\n\0\xff\n", 4) + right, 1, 1, 1), 42) << line;
  }
  EXPECT_EQ(lock_holder_in(std::string(1 << 20, 'x') + "\n" + right, 1, 1, 1), 42);
}

}  // namespace
}  // namespace forebay::io

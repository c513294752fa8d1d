// The thread pools of the file tier: jobs of blocks, read or written one after another by one
// thread, finished on the loop.
//
// Ownership: a job keeps what its blocks need (KvBlock::owner) until it ended; the last reference
// goes on the loop's thread. Threads: submit() and the destructor on the loop's thread; `on_done`
// runs there too. Blocks: submit() never; the destructor waits for the system calls in progress.
// Limits: jobs_max waiting jobs a pool.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "io/loop.h"

namespace forebay::engine {

struct FileJob {
  struct Item {
    std::string path;
    std::span<std::byte> bytes;
    std::shared_ptr<const void> owner;
    std::atomic<bool> done{false};  // whole and right, as far as the file system says
  };
  bool write = false;
  bool direct = true;
  std::deque<Item> items;              // a deque: items do not move
  std::vector<std::string> removals;   // files to remove first
  std::atomic<bool> abandoned{false};  // no item is begun after this
  std::function<void()> on_done;       // on the loop
};

class FilePool {
 public:
  FilePool(io::Loop& loop, std::size_t thread_count, std::size_t jobs_max);
  ~FilePool();
  FilePool(const FilePool&) = delete;
  FilePool& operator=(const FilePool&) = delete;

  // kBusy: jobs_max are waiting; the job was not taken.
  [[nodiscard]] Status submit(std::shared_ptr<FileJob> job);

 private:
  void work();
  static void perform(FileJob& job);

  io::Loop& loop_;
  std::size_t jobs_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<FileJob>> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace forebay::engine

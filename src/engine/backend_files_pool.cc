#include "engine/backend_files_pool.h"

#include <unistd.h>

#include <utility>

#include "engine/backend_files_io.h"

namespace forebay::engine {

FilePool::FilePool(io::Loop& loop, std::size_t thread_count, std::size_t jobs_max)
    : loop_(loop), jobs_max_(jobs_max) {
  threads_.reserve(thread_count);
  for (std::size_t i = 0; i < thread_count; ++i) threads_.emplace_back([this] { work(); });
}

FilePool::~FilePool() {
  std::deque<std::shared_ptr<FileJob>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status FilePool::submit(std::shared_ptr<FileJob> job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= jobs_max_) return fail(Errc::kBusy, "queue of the file pool");
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return {};
}

void FilePool::work() {
  while (true) {
    std::shared_ptr<FileJob> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    perform(*job);
    // The reference moves along, so that the loop's thread drops the last one.
    loop_.post([done = std::move(job)] {
      if (done->on_done) std::exchange(done->on_done, nullptr)();
    });
  }
}

void FilePool::perform(FileJob& job) {
  for (const std::string& path : job.removals) ::unlink(path.c_str());
  for (FileJob::Item& item : job.items) {
    if (job.abandoned.load(std::memory_order_relaxed)) return;
    const Status status = job.write ? write_block_file(item.path, item.bytes, job.direct)
                                    : read_block_file(item.path, item.bytes, job.direct);
    if (status) item.done.store(true, std::memory_order_release);
    // A chain without one of its blocks is worth no more reading; writing goes on as far as it can.
    if (!status && !job.write) return;
  }
}

}  // namespace forebay::engine

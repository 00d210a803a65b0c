#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace estimator {

/// Runs job(0), job(1), … job(count − 1), each once and in any order, on up to `threads` threads
/// including the caller's. After an exception no further jobs start; it is rethrown at the end.
void run_parallel_jobs(int threads, std::size_t count, const std::function<void(std::size_t)>& job);

/// The same for work(first, count) on batches of consecutive items. Batch sizes are multiples of
/// `multiple`, small enough to keep all threads busy to the end. One thread gets all items at once.
void run_parallel_batches(int threads, std::size_t items, std::size_t multiple,
                          const std::function<void(std::size_t, std::size_t)>& work);

/// Runs a job once: the first caller runs it, concurrent callers wait.
class CompletionLatch {
 public:
  CompletionLatch();
  ~CompletionLatch();
  void run(const std::function<void()>& job);

 private:
  struct OnceFlag;
  std::unique_ptr<OnceFlag> flag_;
};

}  // namespace estimator

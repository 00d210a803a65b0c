#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace estimator {

/// Runs job(0), job(1), … job(count − 1) once each, in any order, on up to `threads` threads
/// including the caller's. After an exception no further jobs start; it is rethrown at the end.
void run_parallel_jobs(int threads, std::size_t count, const std::function<void(std::size_t)>& job);

/// Runs work(first, count) on batches of consecutive items, on threads as run_parallel_jobs. Batch
/// sizes are multiples of `multiple`, and small enough to keep all threads busy to the end. A
/// single thread gets all items at once.
void run_parallel_batches(int threads, std::size_t items, std::size_t multiple,
                          const std::function<void(std::size_t, std::size_t)>& work);

/// Runs a job only once. The first caller runs the job; concurrent callers wait for its end.
class OnceJob {
 public:
  OnceJob();
  ~OnceJob();
  void run(const std::function<void()>& job);

 private:
  struct OnceFlag;
  std::unique_ptr<OnceFlag> flag_;
};

}  // namespace estimator

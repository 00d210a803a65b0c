#include "estimator/math/parallel_jobs.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace estimator {
namespace {

constexpr std::size_t kBatchesPerThread = 4;

}  // namespace

struct OnceJob::OnceFlag {
  std::once_flag flag;
};

OnceJob::OnceJob() : flag_(std::make_unique<OnceFlag>()) {}
OnceJob::~OnceJob() = default;
void OnceJob::run(const std::function<void()>& job) { std::call_once(flag_->flag, job); }

void run_parallel_jobs(int threads, std::size_t count,
                       const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) job(i);
    } catch (...) {
      next = count;
      const std::scoped_lock lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), count);
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

void run_parallel_batches(int threads, std::size_t items, std::size_t multiple,
                          const std::function<void(std::size_t, std::size_t)>& work) {
  if (threads <= 1 || items <= multiple) {
    if (items > 0) work(0, items);
    return;
  }
  const std::size_t units = (items + multiple - 1) / multiple;
  const std::size_t wanted = kBatchesPerThread * static_cast<std::size_t>(threads);
  const std::size_t size = multiple * ((units + wanted - 1) / wanted);
  const std::size_t batches = (items + size - 1) / size;
  run_parallel_jobs(threads, batches, [&](std::size_t batch) {
    const std::size_t first = batch * size;
    work(first, std::min(size, items - first));
  });
}

}  // namespace estimator

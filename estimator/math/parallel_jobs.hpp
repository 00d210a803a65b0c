#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace estimator {

/// Runs job(0), job(1), … job(count − 1), each once and in no particular order, on up to `threads`
/// threads, of which the caller's is one. An exception of a job is thrown again when all threads
/// have ended; jobs not begun by then are left out.
void for_each_job(int threads, std::size_t count, const std::function<void(std::size_t)>& job);

/// The same for work(first, count): stretches of some items, as many times `multiple` in each as
/// keeps all threads busy to the end. One thread gets everything at once.
void for_each_batch(int threads, std::size_t items, std::size_t multiple,
                    const std::function<void(std::size_t, std::size_t)>& work);

/// Runs a job for whoever asks first, once; others wait for it.
class Once {
 public:
  Once();
  ~Once();
  void run(const std::function<void()>& job);

 private:
  struct Flag;
  std::unique_ptr<Flag> flag_;
};

}  // namespace estimator

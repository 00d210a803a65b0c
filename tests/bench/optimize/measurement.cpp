#include "tests/bench/optimize/measurement.hpp"

#include <benchmark/benchmark.h>
#include <cblas.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>

namespace bench {

double thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double peak_memory_MB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

Dgemm::Dgemm() { openblas_set_num_threads(1); }

double Dgemm::measure() {
  const double start = thread_time();
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize, 1.0, a_.data(), kSize,
              b_.data(), kSize, 0.0, c_.data(), kSize);
  benchmark::DoNotOptimize(c_.data());
  return 2e-9 * kSize * kSize * kSize / (thread_time() - start);
}

}  // namespace bench

#pragma once

#include <vector>

namespace bench {

/// Processor time of this thread [s]: other processes on the machine do not count.
double thread_time();

double median(std::vector<double> values);

/// Largest resident memory of this process so far.
double peak_memory_MB();

/// GFLOP/s of OpenBLAS on one thread: a reference for the machine's present speed.
class Dgemm {
 public:
  /// Limits OpenBLAS to one thread from now on.
  Dgemm();
  double measure();

 private:
  static constexpr int kSize = 384;
  std::vector<double> a_ = std::vector<double>(kSize * kSize, 1.0);
  std::vector<double> b_ = a_;
  std::vector<double> c_ = a_;
};

}  // namespace bench

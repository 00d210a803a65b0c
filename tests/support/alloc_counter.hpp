#pragma once

#include <cstdint>

namespace test_support {

/// Counts calls to malloc and its relatives on the thread that made it, from its construction on,
/// including those of `operator new` and Eigen. Link `alloc_counter` to use it.
///
/// Sanitizers bring their own malloc, so nothing is counted: `works()` is false and the test should
/// skip.
class AllocCounter {
 public:
  AllocCounter() noexcept;
  std::int64_t count() const noexcept;
  static bool works() noexcept;

 private:
  std::int64_t start_;
};

}  // namespace test_support

#pragma once

#include <cstdint>

namespace test_support {

/// Counts the calls to malloc and related functions on the thread that constructed it, from its
/// construction on. This includes allocations by `operator new` and Eigen. A test that uses it must
/// link `alloc_counter`.
///
/// Sanitizers replace malloc, so with a sanitizer no calls are counted: `works()` returns false,
/// and the test should be skipped.
class AllocCounter {
 public:
  AllocCounter() noexcept;
  std::int64_t count() const noexcept;
  static bool works() noexcept;

 private:
  std::int64_t start_;
};

}  // namespace test_support

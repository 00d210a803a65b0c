#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "proto/result.hpp"

namespace test_support {

/// Messages of a Status or Result for EXPECT_TRUE(ok(...)).
template <typename T>
::testing::AssertionResult ok(const proto::Result<T>& result) {
  if (result.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << result.error().detail;
}

/// Returns the value of a Result. Without one, fails the test and throws std::runtime_error.
template <typename T>
T require(proto::Result<T> result) {
  if (result.ok()) return std::move(result.value());
  ADD_FAILURE() << result.error().detail;
  throw std::runtime_error(result.error().detail);
}

/// Returns the error of a Result. Without one, fails the test and throws std::runtime_error.
template <typename T>
proto::Error require_error(const proto::Result<T>& result) {
  if (!result.ok()) return result.error();
  ADD_FAILURE() << "must fail";
  throw std::runtime_error("must fail");
}

}  // namespace test_support

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "estimator/assessment/calibration.hpp"

namespace test_support {

/// Returns the estimate of the parameter of that name.
/// @throws std::out_of_range if there is none
inline const estimator::ParameterEstimate& estimate_of(const estimator::Calibration& calibration,
                                                       const std::string& name) {
  const auto found =
      std::ranges::find(calibration.parameters, name, &estimator::ParameterEstimate::name);
  if (found == calibration.parameters.end()) throw std::out_of_range(name);
  return *found;
}

/// Expects that an estimate is within `deviations` of its own standard deviations of the truth.
inline void expect_within(const estimator::Calibration& calibration, const std::string& name,
                          double truth, double deviations) {
  const estimator::ParameterEstimate& estimate = estimate_of(calibration, name);
  EXPECT_GT(estimate.standard_deviation, 0.0) << name;
  EXPECT_NEAR(estimate.value, truth, deviations * estimate.standard_deviation) << name;
}

}  // namespace test_support

#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loops/base_inertial_parameters.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/arm/arm_draw.hpp"
#include "tests/studies/runs/study_run.hpp"

namespace service {

/// True values of a random arm, with which estimates are compared.
class ArmTruth {
 public:
  explicit ArmTruth(const RandomArm& drawn);

  const estimator::BaseInertialParameters& base() const { return base_; }

  /// Returns the relative errors of base parameters, followed by those of friction and gains.
  /// @param values  estimates in the order of regression_values
  std::vector<double> errors(const Eigen::VectorXd& values) const;
  double median_error(const Eigen::VectorXd& values) const;

  /// Counts the 95 % intervals of the estimates, and the intervals that contain the true value.
  void count_intervals(const StudyRun& run, ArmResult& draw) const;

 private:
  estimator::Mechanism mechanism_;
  estimator::BaseInertialParameters base_;
  Eigen::VectorXd values_;
};

/// Compares the estimates of a random arm with the true values.
/// @param fit          result of the arm_fit_task
/// @param regressions  result of the arm_regression_task
/// @param tied         result of the arm_tied_task, or null
ArmResult evaluate_arm(const StudyArm& arm, double noise, std::uint64_t index, const StudyRun& fit,
                       const StudyRun& regressions, const StudyRun* tied);

}  // namespace service

#include "estimator/assessment/intervals/confidence_intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimator/assessment/calibration.hpp"

namespace estimator {
namespace {

/// One parameter, measured by one group, with unit information.
ParameterInformation unit_information(double scatter) {
  ParameterInformation information;
  information.valid = true;
  information.schur = Eigen::MatrixXd::Identity(1, 1);
  information.inverse = information.schur;
  information.group_schur = {Eigen::MatrixXd::Constant(1, 1, scatter)};
  information.groups.resize(1);
  information.at_bound = Eigen::VectorXi::Zero(1);
  information.undetermined = {false};
  return information;
}

/// Errors that are a sine of the encoder disc phase, at evenly spaced phases, plus a normal part.
QuantizationErrors wave(double amplitude, double normal_variance) {
  QuantizationErrors errors;
  errors.sensors = {{0, 1e-3, 0.0}};
  errors.normal_scatter = Eigen::MatrixXd::Constant(1, 1, normal_variance);
  errors.scatter = {errors.normal_scatter.array() + 0.5 * amplitude * amplitude};
  errors.draws = amplitude * Eigen::RowVectorXd::LinSpaced(4001, -M_PI, M_PI).array().sin();
  return errors;
}

TEST(ConfidenceHalfWidths, AreNormalWithoutQuantization) {
  const Eigen::VectorXd half =
      compute_confidence_half_widths(unit_information(1.0), Eigen::VectorXd::Ones(1), {});
  EXPECT_DOUBLE_EQ(half[0], kNormalHalfWidth95);
}

// A sine of a uniform phase lies within ±a sin(0.95 π/2) 95 % of the time, 1.41 of its standard
// deviations, so ±1.96 deviations would always contain it. As the normal part grows, the factor
// must approach 1.96.
TEST(ConfidenceHalfWidths, FollowTheDistributionOverPhasesOfTheQuantizationGrid) {
  const QuantizationErrors flat = wave(3.0, 0.0);
  Eigen::VectorXd half = compute_confidence_half_widths(unit_information(flat.scatter[0](0, 0)),
                                                        Eigen::VectorXd::Ones(1), flat);
  EXPECT_NEAR(half[0], 3.0 * std::sin(0.95 * M_PI / 2.0), 0.02);
  const QuantizationErrors normal = wave(0.1, 4.0);
  half = compute_confidence_half_widths(unit_information(normal.scatter[0](0, 0)),
                                        Eigen::VectorXd::Ones(1), normal);
  EXPECT_NEAR(half[0], 2.0 * kNormalHalfWidth95, 0.15);  // 3 σ of the quantile
}

// Without an estimate there is no interval: width 0 at a bound, infinite if not identifiable.
TEST(ConfidenceHalfWidths, SkipFixedAndUnidentifiableParameters) {
  ParameterInformation information = unit_information(1.0);
  information.inverse.setZero();
  information.at_bound[0] = -1;
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(1);
  EXPECT_EQ(compute_confidence_half_widths(information, one, wave(1.0, 1.0))[0], 0.0);
  information.at_bound[0] = 0;
  information.undetermined[0] = true;
  EXPECT_EQ(compute_confidence_half_widths(information, one, wave(1.0, 1.0))[0],
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace estimator

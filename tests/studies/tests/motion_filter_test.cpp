#include "tests/studies/motion_observer/motion_filter.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace {

using estimator::InstantQuantity;
using estimator::MotionModel;
using estimator::MotionObserver;
using estimator::MotionPrior;

// One joint with an encoder: all is linear, so the smoother must give the least-squares solution of
// all readings, steps and the prior, and the filter that of the readings so far.
TEST(MotionFilter, IsTheLeastSquaresOfTheRecordWhereAllIsLinear) {
  constexpr int kCount = 12;
  constexpr double kNoise = 0.01;
  const estimator::Mechanism mechanism = estimator::make_chain({.links = 1});
  MotionObserver estimator(mechanism, {{InstantQuantity::kMotion, 0, 0}},
                           {Eigen::VectorXd::Constant(1, kNoise)});
  const MotionModel model{0.02, Eigen::VectorXd::Constant(1, 30.0)};
  Eigen::MatrixXd readings(1, kCount);
  for (int k = 0; k < kCount; ++k) readings(0, k) = 0.3 * std::sin(0.5 * k) + 0.01 * (k % 3);
  const MotionPrior prior =
      estimator::independent_prior(Eigen::Vector3d(0.1, 0.2, -0.3), Eigen::Vector3d(0.5, 2.0, 9.0));
  const auto filtered = estimator::filter_motion(estimator, readings, prior, {prior.mean}, model);
  const auto smoothed = estimator::smooth_motion(filtered, model);
  ASSERT_EQ(filtered.size(), static_cast<std::size_t>(kCount));

  const double h = model.period, q = model.jerk[0] * model.jerk[0];
  Eigen::Matrix3d F, Q;
  F << 1.0, h, h * h / 2.0, 0.0, 1.0, h, 0.0, 0.0, 1.0;
  // ∫ g gᵀ over a period, g(s) = (s²/2, s, 1): the process noise of the state.
  Q.setZero();
  constexpr int kParts = 20000;
  for (int i = 0; i < kParts; ++i) {
    const double s = (i + 0.5) * h / kParts;
    const Eigen::Vector3d g(s * s / 2.0, s, 1.0);
    Q += q * h / kParts * g * g.transpose();
  }
  for (const int count : {kCount, 5}) {
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(3 * count, 3 * count);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(3 * count);
    H.topLeftCorner<3, 3>() = prior.information;
    right.head<3>() = prior.information * prior.mean;
    for (int k = 0; k < count; ++k) {
      H(3 * k, 3 * k) += 1.0 / (kNoise * kNoise);
      right[3 * k] += readings(0, k) / (kNoise * kNoise);
      if (k == 0) continue;
      Eigen::Matrix<double, 3, 6> step;
      step << -F, Eigen::Matrix3d::Identity();
      H.block<6, 6>(3 * k - 3, 3 * k - 3) += step.transpose() * Q.inverse() * step;
    }
    const Eigen::MatrixXd covariance = H.inverse();
    const Eigen::VectorXd whole = covariance * right;
    const auto& last = filtered[static_cast<std::size_t>(count - 1)].estimate;
    const Eigen::Index at = 3 * (count - 1);
    EXPECT_LT((last.motion - whole.segment<3>(at)).norm(), 1e-5) << count;
    EXPECT_LT((last.covariance - covariance.block<3, 3>(at, at)).norm(),
              1e-5 * last.covariance.norm());
    if (count < kCount) continue;
    for (int k = 0; k < count; ++k) {
      const auto& own = smoothed[static_cast<std::size_t>(k)];
      EXPECT_LT((own.motion - whole.segment<3>(3 * k)).norm(), 1e-5) << k;
      EXPECT_LT((own.covariance - covariance.block<3, 3>(3 * k, 3 * k)).norm(),
                1e-5 * own.covariance.norm());
    }
  }
}

// Two starts, one of them a wrong motion that the first instant cannot exclude; later ones must. A
// pendulum's specific force along the link determines only the cosine of its angle.
TEST(MotionFilter, ContinuesWithTheStartThatFits) {
  estimator::Mechanism mechanism = estimator::make_chain({.links = 1});
  MotionObserver estimator(
      mechanism, {{InstantQuantity::kAcceleration, 0, 3}, {InstantQuantity::kMotion, 0, 1}},
      {Eigen::Vector2d(0.02, 2e-3)});
  const MotionModel model{0.02, Eigen::VectorXd::Constant(1, 5.0)};
  constexpr int kCount = 60;
  Eigen::MatrixXd readings(2, kCount);
  Eigen::MatrixXd truth(3, kCount);
  for (int k = 0; k < kCount; ++k) {
    const double t = 0.02 * k;
    truth.col(k) << 0.8 + t, 1.0, 0.0;
    Eigen::VectorXd values;
    estimator.program().read(truth.col(k), values);
    readings.col(k) = values;
  }
  const MotionPrior prior =
      estimator::independent_prior(Eigen::Vector3d::Zero(), Eigen::Vector3d(1.5, 2.0, 5.0));
  const Eigen::Vector3d right(0.8, 1.0, 0.0), wrong(-0.8, 1.0, 0.0);
  for (const std::vector<Eigen::VectorXd>& starts :
       {std::vector<Eigen::VectorXd>{right, wrong}, std::vector<Eigen::VectorXd>{wrong, right}}) {
    const auto filtered = estimator::filter_motion(estimator, readings, prior, starts, model);
    EXPECT_NEAR(filtered.back().estimate.motion[0], truth(0, kCount - 1), 0.05);
  }
}

}  // namespace

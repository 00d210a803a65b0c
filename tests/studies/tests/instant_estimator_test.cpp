#include "tests/studies/motion_observer/instant_estimator.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <random>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "tests/studies/motion_observer/motion_search.hpp"
#include "tests/studies/tests/spatial_tree.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace {

using estimator::InstantAxis;
using estimator::InstantEstimate;
using estimator::InstantQuantity;
using estimator::JointLoad;
using estimator::MotionObserver;
using estimator::MotionPrior;

/// Returns sensor axes: inertial sensors, the wrench of every joint, and coordinates.
std::vector<InstantAxis> rich_axes(const estimator::Mechanism& mechanism) {
  std::vector<InstantAxis> axes = test_support::inertial_axes(mechanism);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    axes.push_back({InstantQuantity::kMotion, j, 0});
    for (int k = 0; k < 6; ++k) {
      axes.push_back({InstantQuantity::kLoad, j, static_cast<int>(JointLoad::kMomentX) + k});
    }
  }
  return axes;
}

Eigen::VectorXd some_motion(int joints) {
  Eigen::VectorXd motion(3 * joints);
  for (int i = 0; i < 3 * joints; ++i) motion[i] = 0.8 * std::sin(0.5 + 1.7 * i);
  return motion;
}

Eigen::VectorXd normal_vector(Eigen::Index size, std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Eigen::VectorXd::NullaryExpr(size, [&] { return normal(random); });
}

// External wrenches are not unknowns but enter the readings' covariance. The result must equal that
// with the wrenches as unknowns with a prior of their own.
TEST(MotionObserver, MarginalizesExternalWrenches) {
  const estimator::Mechanism mechanism = test_support::spatial_tree();
  const std::vector<InstantAxis> axes = rich_axes(mechanism);
  const auto rows = static_cast<Eigen::Index>(axes.size());
  const Eigen::VectorXd deviation = Eigen::VectorXd::LinSpaced(rows, 0.01, 0.05);
  constexpr double kMoment = 0.2, kForce = 0.7;
  MotionObserver estimator(mechanism, axes, {deviation, kMoment, kForce});
  const Eigen::VectorXd truth = some_motion(mechanism.joint_count());
  std::mt19937 random(3);
  Eigen::VectorXd readings;
  estimator.program().read(truth, readings);
  readings += deviation.cwiseProduct(normal_vector(rows, random));
  const MotionPrior prior =
      estimator::independent_prior(truth + 0.05 * normal_vector(truth.size(), random),
                                   Eigen::VectorXd::Constant(truth.size(), 0.5));
  const InstantEstimate estimate = estimator.estimate(readings, prior, prior.mean);
  ASSERT_TRUE(estimate.converged);

  const Eigen::Index motions = truth.size(), pushes = estimate.external_wrenches.size();
  ASSERT_EQ(pushes, 6 * mechanism.joint_count());
  Eigen::VectorXd all(motions + pushes), values;
  all << estimate.motion, estimate.external_wrenches;
  Eigen::MatrixXd slopes;
  estimator.program().read(all, values);
  estimator.program().linearize(slopes);
  slopes = deviation.cwiseInverse().asDiagonal() * slopes;
  Eigen::MatrixXd H = slopes.transpose() * slopes;
  H.topLeftCorner(motions, motions) += prior.information;
  Eigen::VectorXd push_deviation(pushes);
  for (Eigen::Index i = 0; i < pushes; ++i) push_deviation[i] = i % 6 < 3 ? kMoment : kForce;
  H.bottomRightCorner(pushes, pushes) += push_deviation.cwiseAbs2().cwiseInverse().asDiagonal();
  Eigen::VectorXd gradient = slopes.transpose() * (readings - values).cwiseQuotient(deviation);
  gradient.head(motions) -= prior.information * (estimate.motion - prior.mean);
  gradient.tail(pushes) -= estimate.external_wrenches.cwiseQuotient(push_deviation.cwiseAbs2());
  const Eigen::MatrixXd covariance = H.inverse();
  // Differs from the maximum over all unknowns by a fraction of a standard deviation: the readings'
  // covariance uses the wrenches' mean, zero, instead of their estimate.
  const Eigen::VectorXd off = covariance * gradient;
  EXPECT_LT(off.cwiseQuotient(covariance.diagonal().cwiseSqrt()).cwiseAbs().maxCoeff(), 0.05);
  EXPECT_LT((estimate.covariance - covariance.topLeftCorner(motions, motions)).norm(),
            0.05 * estimate.covariance.norm());
}

// Errors must scatter as the covariance predicts. Catches a wrong weight or derivative, and a prior
// that counts twice, but not errors in the program itself, which cancel.
TEST(MotionObserver, ReportsACorrectCovariance) {
  const estimator::Mechanism mechanism = test_support::spatial_tree();
  const std::vector<InstantAxis> axes = rich_axes(mechanism);
  const auto rows = static_cast<Eigen::Index>(axes.size());
  const Eigen::VectorXd deviation = Eigen::VectorXd::LinSpaced(rows, 0.002, 0.01);
  MotionObserver estimator(mechanism, axes, {deviation});
  const Eigen::VectorXd truth = some_motion(mechanism.joint_count());
  const Eigen::VectorXd width = Eigen::VectorXd::Constant(truth.size(), 0.3);
  std::mt19937 random(5);
  double squares = 0.0;
  constexpr int kDraws = 200;
  for (int draw = 0; draw < kDraws; ++draw) {
    Eigen::VectorXd readings;
    estimator.program().read(truth, readings);
    readings += deviation.cwiseProduct(normal_vector(rows, random));
    const MotionPrior prior = estimator::independent_prior(
        truth + width.cwiseProduct(normal_vector(truth.size(), random)), width);
    const InstantEstimate estimate = estimator.estimate(readings, prior, prior.mean);
    ASSERT_TRUE(estimate.converged);
    const Eigen::VectorXd error = estimate.motion - truth;
    squares += error.dot(estimate.covariance.llt().solve(error));
  }
  // χ² of 15 unknowns in 200 draws: mean 15, standard deviation of the mean 0.39.
  EXPECT_NEAR(squares / kDraws, static_cast<double>(truth.size()), 1.5);
}

/// Chain in which each link has a gyroscope, an accelerometer and a torque sensor.
struct SensedChain {
  explicit SensedChain(int links) : mechanism(estimator::make_chain({.links = links})) {
    for (int i = 0; i < links; ++i) {
      test_support::add_inertial_sensor(mechanism, "imu" + std::to_string(i), i,
                                        {{estimator::SensorParameter::kPointX, 0.05}});
      for (const int k : {2, 3, 4}) axes.push_back({InstantQuantity::kInertial, i, k});
      axes.push_back({InstantQuantity::kLoad, i, static_cast<int>(JointLoad::kTorque)});
    }
  }
  estimator::Mechanism mechanism;
  std::vector<InstantAxis> axes;
};

// From a prior that is 0.9 rad off at a joint, descent usually ends in another maximum; the search
// must find the right one. Does not catch a search that is wider than necessary.
TEST(MotionSearch, FindsTheMotionThatDescentMisses) {
  constexpr int kLinks = 8, kDraws = 20;
  const SensedChain chain(kLinks);
  const auto rows = static_cast<Eigen::Index>(chain.axes.size());
  const Eigen::VectorXd deviation = Eigen::VectorXd::Constant(rows, 2e-3);
  MotionObserver estimator(chain.mechanism, chain.axes, {deviation});
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  int by_descent = 0, by_search = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Eigen::VectorXd truth(3 * kLinks), width(3 * kLinks);
    width << Eigen::VectorXd::Constant(kLinks, 0.9), Eigen::VectorXd::Constant(kLinks, 1.0),
        Eigen::VectorXd::Constant(kLinks, 50.0);
    for (Eigen::Index i = 0; i < truth.size(); ++i) {
      truth[i] = (i < kLinks ? M_PI : 3.0) * uniform(random);
    }
    Eigen::VectorXd readings;
    estimator.program().read(truth, readings);
    readings += deviation.cwiseProduct(normal_vector(rows, random));
    const MotionPrior prior = estimator::independent_prior(
        truth + width.cwiseProduct(normal_vector(truth.size(), random)), width);
    const auto is_right = [&](const Eigen::VectorXd& motion) {
      return (motion - truth).head(kLinks).norm() < 0.1;
    };
    by_descent += is_right(estimator.estimate(readings, prior, prior.mean).motion) ? 1 : 0;
    const estimator::FoundMotion found = estimator::search_motion(estimator, readings, prior);
    ASSERT_FALSE(found.motions.empty());
    by_search += is_right(found.motions.front().motion) ? 1 : 0;
  }
  EXPECT_LE(by_descent, kDraws / 2);
  EXPECT_GE(by_search, kDraws - 1);
}

// Readings that are not numbers must not give a motion.
TEST(MotionSearch, FindsNothingForNaN) {
  const SensedChain chain(2);
  const auto rows = static_cast<Eigen::Index>(chain.axes.size());
  MotionObserver estimator(chain.mechanism, chain.axes, {Eigen::VectorXd::Ones(rows)});
  const MotionPrior prior =
      estimator::independent_prior(Eigen::VectorXd::Zero(6), Eigen::VectorXd::Ones(6));
  const Eigen::VectorXd readings = Eigen::VectorXd::Constant(rows, std::nan(""));
  EXPECT_TRUE(estimator::search_motion(estimator, readings, prior).motions.empty());
  EXPECT_FALSE(estimator.estimate(readings, prior, prior.mean).converged);
}

}  // namespace

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>
#include <utility>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "tests/studies/redundant/redundant.hpp"

namespace service {
namespace {

namespace est = estimator;

/// Time in which the estimate converges from its initial guess [s]. Errors in this time do not
/// count.
constexpr double kSettlingTime = 1.0;
/// Standard deviations of the prior at the first instant. For joints without encoders, angles are
/// as uncertain as if estimated by eye, and rates and accelerations are as in slow movements.
constexpr double kAngleGuess = 0.3;         // [rad]
constexpr double kRateGuess = 1.0;          // [rad/s]
constexpr double kAccelerationGuess = 5.0;  // [rad/s²]

/// Motion of a robot in which every joint follows a sine about its mean position.
class Movement {
 public:
  Movement(const RedundantRobot& robot, std::mt19937_64& random) : robot_(robot) {
    std::uniform_real_distribution<double> frequency(robot.slowest, robot.fastest);
    std::uniform_real_distribution<double> phase(0.0, 2.0 * M_PI);
    for (Eigen::Index j = 0; j < robot.about.size(); ++j) {
      rates_.push_back(2.0 * M_PI * frequency(random));
      phases_.push_back(phase(random));
    }
  }

  Eigen::VectorXd at(double time) const {
    const Eigen::Index n = robot_.about.size();
    Eigen::VectorXd motion(3 * n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const double w = rates_[static_cast<std::size_t>(j)];
      const double angle = w * time + phases_[static_cast<std::size_t>(j)];
      const double swing = robot_.amplitude * std::sin(angle);
      motion[j] = robot_.about[j] + swing;
      motion[n + j] = robot_.amplitude * w * std::cos(angle);
      motion[2 * n + j] = -w * w * swing;
    }
    return motion;
  }

 private:
  const RedundantRobot& robot_;
  std::vector<double> rates_, phases_;
};

est::MotionObserver make_estimator(const RedundantRobot& robot, const StudyNoise& noise) {
  const est::Mechanism& mechanism = *robot.mechanism;
  std::vector<est::InstantAxis> axes;
  std::vector<double> deviations;
  const auto add = [&](est::InstantQuantity quantity, int index, int first, int count,
                       double deviation) {
    for (int k = 0; k < count; ++k) {
      axes.push_back({quantity, index, first + k});
      deviations.push_back(deviation);
    }
  };
  const auto has = [](const std::vector<int>& list, int index) {
    return std::find(list.begin(), list.end(), index) != list.end();
  };
  for (int i = 0; i < mechanism.sensor_count(); ++i) {
    if (has(robot.gyroscopes, i)) add(est::InstantQuantity::kInertial, i, 0, 3, noise.gyroscope);
    add(est::InstantQuantity::kInertial, i, 3, 3, noise.accelerometer);
  }
  constexpr int kMoment = static_cast<int>(est::JointLoad::kMomentX);
  constexpr int kForce = static_cast<int>(est::JointLoad::kForceX);
  for (const int joint : robot.wrenches) {
    add(est::InstantQuantity::kLoad, joint, kMoment, 3, noise.moment);
    add(est::InstantQuantity::kLoad, joint, kForce, 3, noise.force);
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!has(robot.held_out, j)) add(est::InstantQuantity::kMotion, j, 0, 1, noise.encoder);
  }
  est::InstantNoise levels{
      Eigen::Map<Eigen::VectorXd>(deviations.data(), static_cast<Eigen::Index>(deviations.size())),
      robot.external_moment, robot.external_force};
  return {mechanism, std::move(axes), std::move(levels)};
}

Eigen::MatrixXd withheld_of(const RedundantRobot& robot, const Eigen::MatrixXd& motion) {
  return motion(robot.held_out, Eigen::all);
}

}  // namespace

RobotRecord run_robot(const RedundantRobot& robot, const StudyNoise& noise) {
  const est::Mechanism& mechanism = *robot.mechanism;
  const Eigen::Index n = mechanism.joint_count();
  std::mt19937_64 random(robot.seed);
  const auto normal = [&](double deviation) {
    return std::normal_distribution<double>(0.0, deviation)(random);
  };
  const Movement movement(robot, random);
  est::MotionObserver estimator = make_estimator(robot, noise);
  const auto count = static_cast<Eigen::Index>(std::lround(robot.duration / robot.period));
  Eigen::MatrixXd truth(3 * n, count), readings(estimator.program().axis_count(), count);
  RobotRecord record;
  for (Eigen::Index k = 0; k < count; ++k) {
    record.times.push_back(static_cast<double>(k) * robot.period);
    truth.col(k) = movement.at(record.times.back());
    Eigen::VectorXd values;
    estimator.program().read(truth.col(k), values);
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      readings(i, k) = values[i] + normal(estimator.noise().axes[i]);
    }
  }
  Eigen::VectorXd guess(3 * n), deviation(3 * n);
  guess << robot.about, Eigen::VectorXd::Zero(2 * n);
  deviation << Eigen::VectorXd::Constant(n, std::hypot(kAngleGuess, robot.amplitude)),
      Eigen::VectorXd::Constant(n, kRateGuess), Eigen::VectorXd::Constant(n, kAccelerationGuess);
  const est::MotionPrior prior = est::independent_prior(guess, deviation);
  const est::MotionModel model{robot.period, Eigen::VectorXd::Constant(n, robot.jerk)};

  record.axes = static_cast<int>(readings.rows()) + estimator.program().outside_count();
  record.settled = kSettlingTime;
  for (const int index : robot.held_out) {
    const est::Joint& joint = mechanism.joints[static_cast<std::size_t>(index)];
    record.joints.push_back(joint.name);
    record.kinds.push_back(joint.kind);
  }
  const auto rows = static_cast<Eigen::Index>(robot.held_out.size());
  record.instant.resize(rows, count);
  record.causal.resize(rows, count);
  record.deviation.resize(rows, count);
  est::InstantEstimate causal;
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::VectorXd true_angles = withheld_of(robot, truth.col(k));
    const std::clock_t start = std::clock();
    const est::MotionPrior before = k == 0 ? prior : est::predict(causal, model);
    causal = estimator.estimate(readings.col(k), before, before.mean);
    record.seconds.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    record.causal.col(k) = withheld_of(robot, causal.motion) - true_angles;
    record.deviation.col(k) = withheld_of(robot, causal.covariance.diagonal().cwiseSqrt());
    const est::InstantEstimate alone = estimator.estimate(readings.col(k), prior, prior.mean);
    record.instant.col(k) = withheld_of(robot, alone.motion) - true_angles;
  }
  return record;
}

}  // namespace service

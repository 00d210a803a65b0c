#pragma once

#include <Eigen/Core>
#include <random>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Simulator of the readings of all sensors other than encoders: inertial, torque, force and
/// position sensors.
class SensorReadings {
 public:
  /// @param step  simulation step [s]
  SensorReadings(const Rig& rig, const Scenario& scenario, double step);

  int sensor_count() const { return mechanism_.sensor_count(); }

  /// Computes and stores the true readings at the beginning of a simulation step.
  /// @param motion   joint motion from Plant::motion
  /// @param control  controls of the motors during the step
  void take(const Eigen::MatrixXd& motion, const Eigen::VectorXd& control);

  /// Returns the sensor readings at the beginning of the last step, in the layout of
  /// Segment::inertial. A delayed reading from before the start of the simulation is NaN.
  Eigen::RowVectorXd read();

 private:
  static constexpr int kAxes = estimator::Sensor::kAxes;

  double noise_of(const estimator::Sensor& sensor, int axis) const;

  const estimator::Mechanism& mechanism_;
  const Scenario& scenario_;
  estimator::TreeInverseDynamics<double> dynamics_;
  std::vector<Eigen::Index> late_;  // delay of each sensor [steps]
  Eigen::MatrixXd past_;            // ring buffer, steps × axes
  Eigen::Index taken_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace service

#pragma once

#include <Eigen/Core>
#include <random>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "service/import/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Simulated readings of all sensors other than encoders: inertial, torque, force and position.
class SensorReadings {
 public:
  /// @param step  step of the plant [s]
  SensorReadings(const Rig& rig, const Scenario& scenario, double step);

  int sensor_count() const { return mechanism_.sensor_count(); }

  /// Records one step of the plant.
  /// @param motion   Plant::motion
  /// @param control  controls of the motors during the step
  void take(const Eigen::MatrixXd& motion, const Eigen::VectorXd& control);

  /// Returns the readings at the beginning of the last step, laid out as Segment::inertial; NaN if
  /// a delayed reading would predate the start.
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

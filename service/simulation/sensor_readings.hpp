#pragma once

#include <Eigen/Core>
#include <random>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "service/import/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// What inertial sensors, and those of torques and forces and of places, read of a plant in motion.
/// A reading is of the motion of so long before as the sensor is late, to the nearest step. Without
/// any such sensor, none of this does anything.
class SensorReadings {
 public:
  /// @param step  of the plant [s]
  SensorReadings(const Rig& rig, const Scenario& scenario, double step);

  int sensor_count() const { return mechanism_.inertial_count(); }

  /// A step of the plant.
  /// @param motion   Plant::motion
  /// @param control  what its motors are told meanwhile
  void take(const Eigen::MatrixXd& motion, const Eigen::VectorXd& control);

  /// At the beginning of the step taken last, as Segment::inertial has it; NaN for what would be of
  /// before the start.
  Eigen::RowVectorXd read();

 private:
  static constexpr int kAxes = estimator::InertialSensor::kAxes;

  double noise_of(const estimator::InertialSensor& sensor, int axis) const;

  const estimator::Mechanism& mechanism_;
  const Scenario& scenario_;
  estimator::TreeInverseDynamics<double> dynamics_;
  std::vector<Eigen::Index> late_;  // steps by which each sensor is late
  Eigen::MatrixXd past_;            // steps, round and round, × axes
  Eigen::Index taken_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace service

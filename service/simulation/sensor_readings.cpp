#include "service/simulation/sensor_readings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace service {

SensorReadings::SensorReadings(const Rig& rig, const Scenario& scenario, double step)
    : mechanism_(rig.mechanism),
      scenario_(scenario),
      dynamics_(rig.mechanism, parameter_values(rig.mechanism)),
      random_(scenario.seed + 1) {  // independent of the encoders' generator
  for (int i = 0; i < mechanism_.sensor_count(); ++i) {
    const int delay = mechanism_.index_of_sensor(i, estimator::SensorQuantity::kDelay);
    late_.push_back(std::lround(estimator::parameter_at(mechanism_, delay).value / step));
  }
  if (!late_.empty()) {
    past_.setConstant(1 + *std::ranges::max_element(late_), kAxes * mechanism_.sensor_count(),
                      std::numeric_limits<double>::quiet_NaN());
  }
}

void SensorReadings::take(const Eigen::MatrixXd& motion, const Eigen::VectorXd& control) {
  using Vector = estimator::TreeInverseDynamics<double>::VectorX;
  Vector commands = Vector::Zero(mechanism_.joint_count()), unused;
  Eigen::Index motor = 0;
  for (int j = 0; j < mechanism_.joint_count(); ++j) {
    if (mechanism_.joints[static_cast<std::size_t>(j)].motorised) commands[j] = control[motor++];
  }
  dynamics_.torque_residual(motion.col(0), motion.col(1), motion.col(2), commands, unused);
  const Eigen::Index row = taken_++ % past_.rows();
  for (int i = 0; i < mechanism_.sensor_count(); ++i) {
    const auto readings = dynamics_.inertial_readings(i);
    const int axes = mechanism_.sensors[static_cast<std::size_t>(i)].axis_count();
    for (int k = 0; k < axes; ++k)
      past_(row, i * kAxes + k) = readings[static_cast<std::size_t>(k)];
  }
}

double SensorReadings::noise_of(const estimator::Sensor& sensor, int axis) const {
  return scenario_.sensor_noise[static_cast<std::size_t>(sensor.traits().instrument(axis).reads)];
}

Eigen::RowVectorXd SensorReadings::read() {
  Eigen::RowVectorXd readings =
      Eigen::RowVectorXd::Constant(past_.cols(), std::numeric_limits<double>::quiet_NaN());
  for (int i = 0; i < mechanism_.sensor_count(); ++i) {
    const auto sensor = static_cast<std::size_t>(i);
    const Eigen::Index of = taken_ - 1 - late_[sensor];
    if (of < 0) continue;
    for (int k = 0; k < kAxes; ++k) {
      const double noise = noise_of(mechanism_.sensors[sensor], k);
      readings[i * kAxes + k] = past_(of % past_.rows(), i * kAxes + k);
      if (noise > 0.0) readings[i * kAxes + k] += noise * normal_(random_);
    }
  }
  return readings;
}

}  // namespace service

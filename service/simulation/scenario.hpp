#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/command_limits.hpp"
#include "estimator/model/inertial_sensor.hpp"

namespace service {

/// Magnitudes that a hinge should not exceed; 0: no limit. Of a slide read m for rad.
struct HingeLimit {
  int hinge = 0;
  double angle_max = 0.0;  ///< [rad]
  double speed_max = 0.0;  ///< [rad/s]
};

/// The excitations of a rig and what a simulation of it adds, with joints by index.
struct Scenario {
  daq::Scenario excitation;  ///< joints are the mechanism's, motors those of them that are driven
  double rate = 1000.0;      ///< samples per second [Hz]
  Eigen::VectorXd initial_angles{};                  ///< one a hinge [rad or m]
  Eigen::VectorXd initial_speeds{};                  ///< one a hinge [rad/s or m/s]
  std::vector<daq::CommandLimits> command_limits{};  ///< by motor; none: not limited
  std::vector<HingeLimit> limits{};
  double noise = 0.0;           ///< standard deviation of the angles' white noise [rad]
  double position_noise = 0.0;  ///< of the positions' [m]
  /// Of sensors, by estimator::Reading; of a torque of what slides as of a moment.
  std::array<double, static_cast<std::size_t>(estimator::Reading::kCount)> sensor_noise{};
  bool quantise = false;  ///< round angles and positions to encoder counts
  std::uint64_t seed = 0;
};

}  // namespace service

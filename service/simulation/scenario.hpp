#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/command_limits.hpp"
#include "estimator/model/sensor.hpp"

namespace service {

/// Largest magnitudes that a joint should reach; 0: no limit. For a prismatic joint read m for rad.
struct JointLimit {
  int joint = 0;
  double angle_max = 0.0;  ///< [rad]
  double speed_max = 0.0;  ///< [rad/s]
};

/// One excitation of a rig plus the simulation settings (start, noise, limits), joints by index.
struct Scenario {
  daq::Scenario excitation;          ///< with the mechanism's joints and its motorised joints
  double rate = 1000.0;              ///< sampling rate [Hz]
  Eigen::VectorXd initial_angles{};  ///< one per joint [rad or m]
  Eigen::VectorXd initial_speeds{};  ///< one per joint [rad/s or m/s]
  std::vector<daq::CommandLimits> command_limits{};  ///< one per motor; empty: no limits
  std::vector<JointLimit> limits{};
  double noise = 0.0;           ///< standard deviation of the white noise of angles [rad]
  double position_noise = 0.0;  ///< the same for positions [m]
  /// The same for other sensors, by estimator::Reading [SI]; joint forces use the entry of torques.
  std::array<double, static_cast<std::size_t>(estimator::Reading::kCount)> sensor_noise{};
  bool quantize = false;  ///< round angles and positions to encoder counts
  std::uint64_t seed = 0;
};

}  // namespace service

#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/command_limits.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/sensor.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Integration method of a simulation.
enum class Integrator {
  kAutomatic,  ///< kSpook if it supports all joints, otherwise kPhysical
  kSpook,      ///< SPOOK time stepper: some joint types only, first order
  kPhysical    ///< equations of motion in joint coordinates: all joints, 4th order
};

/// Limits of a joint's coordinate and speed in a simulation, as magnitudes; 0 means no limit. For
/// prismatic joints, m replaces rad.
struct JointLimit {
  int joint = 0;           ///< joint index
  double angle_max = 0.0;  ///< [rad]
  double speed_max = 0.0;  ///< [rad/s]
};

/// Scenario of a simulation: excitation of the rig, initial state, sensor noise and limits.
struct Scenario {
  daq::Scenario excitation;                          ///< excitation by the motors or by hand
  double rate = 1000.0;                              ///< sampling rate [Hz]
  Eigen::VectorXd initial_angles{};                  ///< initial joint coordinates [rad or m]
  Eigen::VectorXd initial_speeds{};                  ///< initial joint speeds [rad/s or m/s]
  std::string start_note{};  ///< start position of a release without `initial`; otherwise empty
  std::vector<daq::CommandLimits> command_limits{};  ///< one per motor; empty if no limits
  std::vector<JointLimit> limits{};
  double noise = 0.0;           ///< standard deviation of the white noise of angles [rad]
  double position_noise = 0.0;  ///< standard deviation of the noise of positions [m]
  /// Standard deviations of the white noise of sensors other than encoders, by
  /// estimator::MeasuredQuantity [SI units]. Joint forces use the entry of torques.
  std::array<double, static_cast<std::size_t>(estimator::MeasuredQuantity::kCount)> sensor_noise{};
  bool quantize = false;  ///< round angles and positions to encoder counts
  std::uint64_t seed = 0;
  bool keeps_joint_motion = false;  ///< fill SimulatedRun::joint_motion
};

/// Returns initial coordinates of all joints [rad or m] at which the kinematic loops are closed.
/// Without loops, joints without a requested coordinate start at zero.
///
/// With loops, the search starts at the stable equilibrium (find_stable_equilibrium). From there,
/// joints with a requested coordinate move to it while the loops stay closed.
/// @param stated  requested coordinate of each joint; NaN if not requested
/// @return nullopt if the loops cannot be closed with the given coordinates
std::optional<Eigen::VectorXd> assemble_initial_configuration(const estimator::Mechanism& mechanism,
                                                              const Eigen::VectorXd& stated);

/// Returns the limits of a motor command in a rig file. Limits in the safety section take
/// precedence over the control range of the motor.
/// @param motor  index of the driven joint
daq::CommandLimits motor_command_limits(const Rig& rig, int motor);

/// Reads and checks a scenario file (proto/scenario.proto) for a rig.
Scenario load_scenario(const std::string& path, const Rig& rig);

/// Parses and checks the text of a scenario file for a rig. The path of a recording to replay is
/// relative to the folder of `path`.
Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig);

}  // namespace service

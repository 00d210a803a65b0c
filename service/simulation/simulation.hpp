#pragma once

#include <Eigen/Core>
#include <atomic>
#include <string>
#include <vector>

#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Sampled sensor readings and controls of a simulation.
struct SimulatedRun {
  double period = 0.0;       ///< sampling period [s]
  double step = 0.0;         ///< simulation step [s]
  Eigen::MatrixXd angles;    ///< encoder readings, samples × encoders [rad or m]
  Eigen::MatrixXd inertial;  ///< readings of other sensors, layout of Segment::inertial
  Eigen::MatrixXd controls;  ///< samples × motors; row k acts until row k + 1
  /// True coordinates, then speeds of all joints, samples × 2·joints [rad or m]; empty if the
  /// scenario does not request them.
  Eigen::MatrixXd joint_motion;
  Integrator integrator = Integrator::kSpook;  ///< integration method used
  bool cancelled = false;                      ///< stopped early; existing samples are valid
  std::vector<std::string> notes;              ///< messages on exceeded limits and an early end
};

/// Simulates a scenario on a rig with the SPOOK stepper or the equations of motion. Encoder
/// readings are unwrapped, and include encoder offsets, noise and quantization. Motor commands are
/// computed from the true state at every sample, and act after the input delay of the motor.
/// @param step  simulation step [s]. It must divide the sampling period of the scenario, or be
///         longer: it then becomes the sampling period
/// @param stop  flag that another thread sets to stop the simulation; may be null
/// @param integrator  integration method
/// @throws InputError if the step does not divide the period, or the model cannot be integrated
SimulatedRun simulate(const Rig& rig, const Scenario& scenario, double step,
                      const std::atomic<bool>* stop = nullptr,
                      Integrator integrator = Integrator::kAutomatic);

/// Returns the samples of a simulation as the text of a CSV recording.
std::string simulation_csv(const Rig& rig, const SimulatedRun& run);

}  // namespace service

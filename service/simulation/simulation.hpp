#pragma once

#include <Eigen/Core>
#include <atomic>
#include <string>
#include <vector>

#include "service/import/rig_file.hpp"
#include "service/simulation/integrator.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Samples of a simulated run.
struct SimulatedRun {
  double period = 0.0;       ///< sampling period [s]
  double step = 0.0;         ///< h of the stepper [s]
  Eigen::MatrixXd angles;    ///< samples × encoders, their readings [rad or m]
  Eigen::MatrixXd inertial;  ///< samples × axes of other sensors, laid out as Segment::inertial
  Eigen::MatrixXd controls;  ///< samples × motors; row k is held until row k + 1
  Integrator integrator = Integrator::kSpook;  ///< method used
  bool cancelled = false;                      ///< the stop flag was set; earlier samples are valid
  std::vector<std::string> notes;              ///< messages on exceeded limits and early ends
};

/// Simulates a scenario with the SPOOK stepper or the equations of motion.
///
/// The command is computed at every sample from the true state and acts after the motor's input
/// delay. Angles are unwrapped; encoder offsets, noise and quantization are applied to them.
/// @param step h [s]: divides the sampling period; if it is longer than the period, one sample is
///         taken per step instead
/// @param integrator  method; automatic: SPOOK if it supports all joints
/// @throws InputError if the step does not divide the period, or the model cannot be stepped
SimulatedRun simulate(const Rig& rig, const Scenario& scenario, double step,
                      const std::atomic<bool>* stop = nullptr,
                      Integrator integrator = Integrator::kAutomatic);

}  // namespace service

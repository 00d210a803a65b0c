#pragma once

#include <Eigen/Core>
#include <atomic>
#include <string>
#include <vector>

#include "service/import/rig_file.hpp"
#include "service/simulation/integrator.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// A simulated run, sample by sample.
struct SimulatedRun {
  double period = 0.0;       ///< of the samples [s]
  double step = 0.0;         ///< h of the stepper [s]
  Eigen::MatrixXd angles;    ///< samples × sensors, as the encoders read them [rad or m]
  Eigen::MatrixXd inertial;  ///< samples × axes of other sensors, as Segment::inertial
  Eigen::MatrixXd controls;  ///< samples × motors; row k is held until row k + 1
  Integrator integrator = Integrator::kSpook;  ///< that moved it
  bool cancelled = false;          ///< the stop flag was set; the samples so far are there
  std::vector<std::string> notes;  ///< limits met, early ends; for people
};

/// Runs a scenario with the SPOOK stepper, or with the equations of motion.
///
/// The command is decided on at every sample from the true state and acts after the motor's input
/// delay. Angles are unwrapped; encoder offsets, noise and quantisation are applied to them.
/// @param step h [s]: the sampling period is a whole multiple of it; where it is longer than the
///             period, samples are taken at every step instead
/// @param integrator that moves the mechanism; automatic: SPOOK where it knows all joints
/// @throws InputError when the step does not divide the period, or the model cannot be stepped
SimulatedRun simulate(const Rig& rig, const Scenario& scenario, double step,
                      const std::atomic<bool>* stop = nullptr,
                      Integrator integrator = Integrator::kAutomatic);

}  // namespace service

#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "daq/scenario/feedback.hpp"
#include "estimator/design/design.hpp"

namespace service {

/// Properties of a rig that determine its swing-up law.
struct SwingUpRig {
  int pendulum = 0;                   ///< joint that hangs at zero and has its own encoder
  std::string name = {};              ///< name of the joint
  double natural_frequency_Hz = 0.0;  ///< frequency of small oscillations with the motor free
  double command_max = 0.0;           ///< largest magnitude of the command [unit of the control]
};

/// Returns the properties for swinging up the first joint that the motor can swing up; nullopt if
/// there is no such joint.
/// @param motor  index of the driven joint
std::optional<SwingUpRig> find_swing_up(const estimator::Mechanism& mechanism, int motor,
                                        double command_max);

/// Converts a plan to the gains of the swing-up law and clamps them to valid ranges. The elements
/// of a plan are the energy gain, largest command and kick (relative to command_max), stop angle
/// [rad] and kick duration [s]. In the returned settings, the pendulum is joint 0.
daq::SwingUpSettings swing_up_gains(const SwingUpRig& rig, const Eigen::VectorXd& plan);

/// Returns the function that makes the swing-up feedback law of a plan.
/// @param samples  number of samples of a run
estimator::FeedbackLaw swing_up_law(const SwingUpRig& rig, Eigen::Index samples);

/// Returns a swing-up plan with commands reduced by the factor `share`.
Eigen::VectorXd weakened_swing_up_plan(const SwingUpRig& rig, Eigen::VectorXd plan, double share);

}  // namespace service

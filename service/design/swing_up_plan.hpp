#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "daq/scenario/swing_up.hpp"
#include "estimator/design/design.hpp"

namespace service {

/// Properties of a rig that its swing-up law needs.
struct SwingUpRig {
  int pendulum = 0;                   ///< joint that hangs at zero and has its own encoder
  std::string name = {};              ///< name of the joint
  double natural_frequency_Hz = 0.0;  ///< small oscillations with the motor free
  double command_max = 0.0;           ///< largest magnitude [unit of the control]
};

/// Finds the first joint that a motor can swing up; nullopt if there is none.
/// @param motor  index of the driven joint
std::optional<SwingUpRig> find_swing_up(const estimator::Mechanism& mechanism, int motor,
                                        double command_max);

/// Returns the gains of a plan, clamped to valid ranges: energy gain, largest command and kick
/// (relative to command_max), stop angle [rad], kick duration [s]. The pendulum is their joint 0.
daq::SwingUpSettings swing_up_gains(const SwingUpRig& rig, const Eigen::VectorXd& plan);

/// Returns the swing-up law as a function of a plan.
/// @param samples  number of samples of a run
estimator::FeedbackLaw swing_up_law(const SwingUpRig& rig, Eigen::Index samples);

/// Returns a plan with smaller commands.
Eigen::VectorXd weakened_swing_up_plan(const SwingUpRig& rig, Eigen::VectorXd plan, double share);

}  // namespace service

#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "daq/scenario/swing_up.hpp"
#include "estimator/design/design.hpp"

namespace service {

/// What swinging up a rig's pendulum needs to know of it.
struct SwingUpRig {
  int pendulum = 0;       ///< joint that hangs at its zero, read by an encoder of its own
  std::string name = {};  ///< of the joint
  double natural_frequency_Hz = 0.0;  ///< of its small motions, the motor free
  double command_max = 0.0;           ///< magnitude [unit of the control]
};

/// Of the first joint that can be swung up by a motor; nothing where there is none.
/// @param motor  joint that is driven
std::optional<SwingUpRig> find_swing_up(const estimator::Mechanism& mechanism, int motor,
                                        double command_max);

/// The gains of a plan: energy gain, largest command, kick (all in largest commands), stop angle
/// [rad] and time of the kick [s]; held to what they may be. The pendulum is joint 0 to them.
daq::SwingUpSettings gains_of(const SwingUpRig& rig, const Eigen::VectorXd& plan);

/// The law of these gains.
/// @param samples  of a run
estimator::FeedbackLaw swing_up_law(const SwingUpRig& rig, Eigen::Index samples);

/// A plan that pumps less.
Eigen::VectorXd calmer_swing_up(const SwingUpRig& rig, Eigen::VectorXd plan, double share);

}  // namespace service

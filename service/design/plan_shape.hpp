#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

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

/// Kinds of command signal that an experiment can have.
enum class PlanKind { kMultisine, kPulses, kSwingUp };

/// Properties of a designed command that are fixed before its amplitudes or gains are optimized.
struct PlanShape {
  PlanKind kind = PlanKind::kMultisine;
  double duration = 0.0;                 ///< [s]
  double ramp = 0.0;                     ///< initial ramp of a multisine [s]
  std::vector<double> frequencies = {};  ///< tones of a multisine [Hz]
  int pulses = 0;                        ///< number of adjacent pulses over the whole duration
  double rate = 0.0;                     ///< sampling rate of the pulses [Hz]
  SwingUpRig swing_up = {};              ///< properties of the rig, for PlanKind::kSwingUp
};

/// Returns the shape of a plan of the given kind.
/// @param duration    length of the experiment [s]
/// @param fastest_hz  highest natural frequency of the rig [Hz]; 0: the rig does not oscillate
/// @param rate        sampling rate [Hz]
/// @param swing_up    properties of the rig, used for PlanKind::kSwingUp
PlanShape make_plan_shape(PlanKind kind, double duration, double fastest_hz, double rate,
                          const SwingUpRig& swing_up);

/// Sets the signals of a design task, whose weighted sum is the command, or the task's feedback
/// law. The signals are a matrix (samples × signals) from time 0 on, with the sine and cosine of
/// each tone, or with one signal per pulse.
/// @param task  its period must be set
void shape_task(const PlanShape& shape, estimator::DesignTask& task);

/// Returns a plan with commands reduced by the factor `share`, so that the rig moves less.
Eigen::VectorXd weakened_plan(const PlanShape& shape, const Eigen::VectorXd& plan, double share);

/// Returns the block "excitation" of a scenario file (proto/scenario.proto) as text.
/// @param plan  amplitudes of the signals, or gains of the swing-up law
std::string excitation_text(const PlanShape& shape, const std::string& motor,
                            const Eigen::VectorXd& plan);

/// Returns the name of a kind of plan: "multisine", "pulses" or "swing-up".
std::string name_of(PlanKind kind);

}  // namespace service

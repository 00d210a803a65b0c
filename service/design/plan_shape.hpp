#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/design/swing_up_plan.hpp"

namespace service {

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

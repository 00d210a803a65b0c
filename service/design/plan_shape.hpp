#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/design/swing_up_plan.hpp"

namespace service {

/// Kind of a designed command.
enum class PlanKind { kMultisine, kPulses, kSwingUp };

/// Part of a scenario that is fixed before its amplitudes or gains are optimized.
struct PlanShape {
  PlanKind kind = PlanKind::kMultisine;
  double duration = 0.0;                 ///< [s]
  double ramp = 0.0;                     ///< initial ramp of a multisine [s]
  std::vector<double> frequencies = {};  ///< tones of a multisine [Hz]
  int pulses = 0;                        ///< number of adjacent pulses over the whole duration
  double rate = 0.0;                     ///< sampling rate of the pulses [Hz]
  SwingUpRig swing_up = {};              ///< for PlanKind::kSwingUp
};

/// @param fastest_hz  highest natural frequency of the rig; 0: none
/// @param rate        sampling rate [Hz]
/// @param swing_up    used for PlanKind::kSwingUp
PlanShape make_plan_shape(PlanKind kind, double duration, double fastest_hz, double rate,
                          const SwingUpRig& swing_up);

/// Sets the signals whose weighted sum is the command, or the feedback law, of a design task.
/// Signals are samples × signals from time 0 on: sine and cosine of each tone, or one per pulse.
/// @param task  its period must be set
void shape_task(const PlanShape& shape, estimator::DesignTask& task);

/// Returns a weaker plan, which moves the rig less.
Eigen::VectorXd weakened_plan(const PlanShape& shape, const Eigen::VectorXd& plan, double share);

/// Returns the excitation of a scenario file (proto/scenario.proto) as text.
/// @param plan  amplitudes of the signals or gains of the law
std::string excitation_text(const PlanShape& shape, const std::string& motor,
                            const Eigen::VectorXd& plan);

/// Returns "multisine", "pulses" or "swing-up".
std::string name_of(PlanKind kind);

}  // namespace service

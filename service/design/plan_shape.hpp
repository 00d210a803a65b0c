#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/design/swing_up_plan.hpp"

namespace service {

/// What a designed command is made of.
enum class PlanKind { kMultisine, kPulses, kSwingUp };

/// The part of a scenario that is fixed before its amplitudes or gains are sought.
struct PlanShape {
  PlanKind kind = PlanKind::kMultisine;
  double duration = 0.0;                 ///< [s]
  double ramp = 0.0;                     ///< of a multisine [s]
  std::vector<double> frequencies = {};  ///< of a multisine's tones [Hz]
  int pulses = 0;                        ///< side by side, over the whole duration
  double rate = 0.0;                     ///< samples a second of these [Hz]
  SwingUpRig swing_up = {};              ///< of its kind
};

/// @param fastest_hz  of the rig's own small motions; 0: it has none
/// @param rate        samples a second [Hz]
/// @param swing_up    of that kind
PlanShape shape_of(PlanKind kind, double duration, double fastest_hz, double rate,
                   const SwingUpRig& swing_up);

/// Gives a design what its command is made of: signals of which it is the sum, samples × signals
/// from time 0 on (sine and cosine of each tone, or one a pulse), or a law.
/// @param task  its period is known
void shape_task(const PlanShape& shape, estimator::DesignTask& task);

/// A plan that moves the rig less.
Eigen::VectorXd calmer(const PlanShape& shape, const Eigen::VectorXd& plan, double share);

/// The excitation of a scenario file (proto/scenario.proto).
/// @param plan  amplitudes of the signals or numbers of the law
std::string excitation_text(const PlanShape& shape, const std::string& motor,
                            const Eigen::VectorXd& plan);

/// For people: "multisine", "pulses", "swing-up".
std::string name_of(PlanKind kind);

}  // namespace service

#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// What a designed command is made of.
enum class PlanKind { kMultisine, kPulses };

/// The part of a scenario that is fixed before its amplitudes are sought.
struct PlanShape {
  PlanKind kind = PlanKind::kMultisine;
  double duration = 0.0;                 ///< [s]
  double ramp = 0.0;                     ///< of a multisine [s]
  std::vector<double> frequencies = {};  ///< of a multisine's tones [Hz]
  int pulses = 0;                        ///< side by side, over the whole duration
};

/// @param fastest_hz  of the rig's own small motions; 0: it has none
/// @param rate        samples a second [Hz]
PlanShape shape_of(PlanKind kind, double duration, double fastest_hz, double rate);

/// Signals of which the command is the sum, samples × signals from time 0 on: sine and cosine of
/// each tone, or one a pulse.
Eigen::MatrixXd signals_of(const PlanShape& shape, double period);

/// The excitation of a scenario file (proto/scenario.proto).
/// @param amplitudes  of the signals
std::string excitation_text(const PlanShape& shape, const std::string& motor,
                            const Eigen::VectorXd& amplitudes);

/// For people: "multisine", "pulses".
std::string name_of(PlanKind kind);

}  // namespace service

#pragma once

#include <limits>
#include <vector>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Compares a recording with the rig's limits. Reports readings outside the joint range, and speeds
/// and commands above their maxima. Also reports commands at their maximum, because a motor that
/// was commanded more may have received less than recorded.
void compare_limits(const Mechanism& mechanism, const std::vector<double>& quanta,
                    const Recording& recording, const SensorDescription& facts,
                    SignalExamination& out);

/// Reports readings well beyond an end stop of their joint. The position of the stop or the encoder
/// zero is then wrong in the description. Allows for noise, quantization and the uncertainty of the
/// stop's position.
void compare_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                   const Recording& recording, SignalExamination& out);

}  // namespace estimator

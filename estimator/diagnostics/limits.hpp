#pragma once

#include <limits>
#include <vector>

#include "estimator/diagnostics/signal_examination.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Compares recordings with the rig's limits: readings outside the joint range, speeds and commands
/// above their maxima. Also reports commands at their maximum, because a motor that was commanded
/// more may have received less than recorded.
void compare_limits(const Mechanism& mechanism, const std::vector<double>& quanta,
                    const Recording& recording, const SensorDescription& facts,
                    SignalExamination& out);

/// Reports readings well beyond an end stop of their joint: the stop or the encoder zero is then
/// wrong in the description. Allows for noise, quantization and the unknown part of the stop.
void compare_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                   const Recording& recording, SignalExamination& out);

}  // namespace estimator

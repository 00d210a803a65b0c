#pragma once

#include <limits>
#include <vector>

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {

/// Recordings against what the rig allows: readings beyond the range of a joint, speeds beyond its
/// largest, commands beyond the motor's largest; and commands that sit there, since a motor that
/// was asked for more got what the recording may not tell.
void compare_limits(const Mechanism& mechanism, const std::vector<double>& quanta,
                    const Recording& recording, const SensorFacts& facts, SignalExamination& out);

/// Readings well beyond an end stop of the joint that they are of: where the description is wrong
/// about the stop, or about the encoder's zero. Whatever noise, counting and what is not known yet
/// of the stop explain is not told.
void compare_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                   const Recording& recording, SignalExamination& out);

}  // namespace estimator

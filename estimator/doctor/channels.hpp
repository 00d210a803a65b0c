#pragma once

#include <vector>

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {

/// Readings that stay at the largest or smallest value of a recording while the motion goes on: it
/// enters the plateau with speed, leaves it with speed the other way, and is held nowhere. Where
/// the recording begins or ends there, the motion on the other side tells, but for joints with
/// stops.
void find_plateaus(const Mechanism& mechanism, const std::vector<double>& quanta,
                   const Recording& recording, int index, SignalExamination& out);

/// Sensors without a reading, and those whose reading never changes although another one's does or
/// a motor is commanded, or
/// although the joint cannot rest there (restless_joints).
void find_dead_channels(const Mechanism& mechanism, const Recording& recording,
                        SignalExamination& out);

/// Sensors whose readings are those of another one, or their negatives, although they read other
/// joints.
void find_copies(const Mechanism& mechanism, const Recording& recording, SignalExamination& out);

/// Recordings in which the command of a motor never changes.
void find_constant_commands(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            SignalExamination& out);

/// Steps of readings against counts that the rig's description tells.
/// @param stated  one a sensor, 0: not; may be empty
void compare_quanta(const std::vector<Sensor>& sensors, const std::vector<double>& seen,
                    const std::vector<double>& stated, SignalExamination& out);

}  // namespace estimator

#pragma once

#include <vector>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Finds clipped readings, that is, plateaus at the largest or smallest reading of a recording that
/// the motion passes through. The joint enters a plateau with speed, leaves it with the opposite
/// speed, and is not held there. At the beginning or end of a recording, only the motion on the
/// other side of the plateau is tested, and joints with end stops are skipped.
void find_plateaus(const Mechanism& mechanism, const std::vector<double>& quanta,
                   const Recording& recording, int index, SignalExamination& out);

/// Finds sensors without a reading, and sensors whose reading never changes although another
/// reading or a motor command changes, or although the joint cannot rest there
/// (find_non_equilibrium_joints).
void find_dead_channels(const Mechanism& mechanism, const Recording& recording,
                        SignalExamination& out);

/// Finds pairs of sensors with identical or exactly opposite readings although they read different
/// joints.
void find_copies(const Mechanism& mechanism, const Recording& recording, SignalExamination& out);

/// Finds recordings in which the command of a motor never changes.
void find_constant_commands(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            SignalExamination& out);

/// Compares the quantization steps of readings with those in the rig description.
/// @param stated  steps in the rig description, one per sensor, 0 if not given; may be empty
void compare_quanta(const std::vector<Encoder>& sensors, const std::vector<double>& seen,
                    const std::vector<double>& stated, SignalExamination& out);

}  // namespace estimator

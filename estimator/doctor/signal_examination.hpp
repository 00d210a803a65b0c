#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/finding.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Places in recordings, all by index.
struct HeldReading {
  int recording, segment, sensor, row;
};
struct FreedOffset {
  int recording, segment, sensor, row;  ///< the first reading that is shifted
  double size;                          ///< by how much readings are larger since [rad or m]
  int finding;                          ///< that tells of it
};
struct Cut {
  int recording, segment, row;  ///< the first behind the cut
};

/// What is wrong with recordings as signals, and what can be done without asking.
struct SignalExamination {
  std::vector<Finding> findings;  ///< Finding::treatment: what `repair` does
  std::vector<HeldReading> held;
  std::vector<FreedOffset> freed;
  std::vector<Cut> cuts;

  bool needs_repair() const { return !held.empty() || !freed.empty() || !cuts.empty(); }
};

/// What a joint may do, by what its encoder reads.
struct SensorLimits {
  double lowest = 0.0, highest = 0.0;  ///< [rad or m]; not above: not stated
  double fastest = 0.0;                ///< [rad/s or m/s]; 0: not stated
};

/// What the rig's description says of its sensors, in their order, and of its motors; 0: nothing.
struct SensorFacts {
  std::vector<double> quantum = {};  ///< one count [rad or m]
  std::vector<SensorLimits> limits = {};
  std::vector<double> command_most = {};  ///< one a motor [unit of its control]
};

/// The unit that readings of each sensor step by, over all recordings [rad or m]; 0: none.
std::vector<double> seen_quanta(const std::vector<Sensor>& sensors,
                                const std::vector<Recording>& recordings);

/// Looks at recordings by themselves: outliers, slips, lost time (`find_steps`), clipped readings,
/// channels that are dead or copies of another, commands that never change, what is beyond the
/// rig's limits.
///
/// @param recordings  with the readings that are used (`set_withheld_aside`)
SignalExamination examine_signals(const Mechanism& mechanism,
                                  const std::vector<Recording>& recordings,
                                  const SensorFacts& facts = {});

/// The same at what a calibration left of them, where small outliers and steps show that the motion
/// hides; physical parameters only.
///
/// @param recordings  that were calibrated
SignalExamination examine_residuals(const Calibration& calibration,
                                    const std::vector<Recording>& recordings);

/// Recordings with readings held back, cuts made and offsets freed, and the mechanism with a free
/// parameter for each such offset.
struct RepairedInput {
  Mechanism mechanism;
  std::vector<Recording> recordings;
};
/// Offsets, in the order of `examination.freed`, are the last parameters of the mechanism.
RepairedInput repair(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                     const SignalExamination& examination);

}  // namespace estimator

#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/finding.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Places in recordings, by index.
struct RejectedReading {
  int recording, segment, sensor, row;
};
struct FreedOffset {
  int recording, segment, sensor, row;  ///< first shifted reading
  double size;                          ///< increase of the readings from there on [rad or m]
  int finding;                          ///< that reports it
};
struct Cut {
  int recording, segment, row;  ///< first row after the cut
};

/// Faults found in recorded signals, and the repairs that need no confirmation by the user.
struct SignalExamination {
  std::vector<Finding> findings;  ///< Finding::treatment: the action of `repair`
  std::vector<RejectedReading> rejected;
  std::vector<FreedOffset> freed;
  std::vector<Cut> cuts;

  bool needs_repair() const { return !rejected.empty() || !freed.empty() || !cuts.empty(); }
};

/// Limits of a joint, in terms of its encoder's readings.
struct SensorLimits {
  double lowest = 0.0, highest = 0.0;  ///< [rad or m]; lowest ≥ highest: not given
  double fastest = 0.0;                ///< [rad/s or m/s]; 0: not given
};

/// Encoder and motor data of the rig description, sensors in their order; 0: not given.
struct SensorDescription {
  std::vector<double> quantum = {};  ///< one count [rad or m]
  std::vector<SensorLimits> limits = {};
  std::vector<double> command_limit = {};  ///< one per motor [unit of its control]
};

/// Quantization step of each sensor over all recordings [rad or m]; 0: none.
std::vector<double> observed_quanta(const std::vector<Encoder>& sensors,
                                    const std::vector<Recording>& recordings);

/// Examines recordings without a model: outliers, slips and lost time (`find_steps`), clipped
/// readings, dead or copied channels, constant commands, and values beyond the rig's limits.
///
/// @param recordings  with the readings that are used (`split_held_out_sensors`)
SignalExamination examine_signals(const Mechanism& mechanism,
                                  const std::vector<Recording>& recordings,
                                  const SensorDescription& facts = {});

/// Examines the residuals of a calibration, in which smaller outliers and steps are visible.
/// Physical parameters only.
///
/// @param recordings  the calibrated recordings
SignalExamination examine_residuals(const Calibration& calibration,
                                    const std::vector<Recording>& recordings);

/// Recordings with readings rejected and cuts made, and the mechanism with a free parameter for
/// each freed offset.
struct RepairedInput {
  Mechanism mechanism;
  std::vector<Recording> recordings;
};
/// The offsets, in the order of `examination.freed`, become the mechanism's last parameters.
RepairedInput repair(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                     const SignalExamination& examination);

}  // namespace estimator

#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/finding.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Indices of a recording and of its segment; −1 if there is none.
struct SegmentIndex {
  int recording = -1, segment = -1;
};
/// Returns the segment with this start time and number of samples in the recording `name`.
SegmentIndex find_segment(const std::vector<Recording>& recordings, const std::string& name,
                          double start, Eigen::Index rows);

/// Indices of a single reading that is rejected.
struct RejectedReading {
  int recording, segment, sensor, row;

  bool operator==(const RejectedReading&) const = default;
};

/// Returns a recording without its rejected readings.
/// @param index  index of the recording
Recording without_rejected(Recording recording, int index,
                           const std::vector<RejectedReading>& rejected);

struct FreedEncoderOffset {
  int recording, segment, sensor, row;  ///< position of the first shifted reading
  double size;                          ///< increase of the readings from there on [rad or m]
  int finding;                          ///< index of the finding that reports the shift
};
struct RecordingCut {
  int recording, segment, row;  ///< position of the first row after the cut
};
struct InitialStopValue {
  int parameter;  ///< free position or restitution of an end stop
  double value;   ///< initial value from the impacts in the recordings
};

/// The faults found in recorded signals, and the repairs that are made without asking the user.
struct SignalExamination {
  std::vector<Finding> findings;  ///< faults; `treated` if `apply_repairs` repairs them
  std::vector<RejectedReading> rejected;
  std::vector<FreedEncoderOffset> freed;
  std::vector<RecordingCut> cuts;
  std::vector<InitialStopValue> stop_starts;

  bool needs_repair() const { return !rejected.empty() || !freed.empty() || !cuts.empty(); }
};

/// The limits of a joint, expressed as limits of its encoder's readings and their speed.
struct SensorLimits {
  double lowest = 0.0, highest = 0.0;  ///< [rad or m]; no limits are given if lowest ≥ highest
  double fastest = 0.0;                ///< largest speed [rad/s or m/s]; 0 if not given
};

/// Encoder and motor data from the rig description, one value per encoder or motor; 0 if not given.
struct SensorDescription {
  std::vector<double> quantum = {};  ///< quantization steps [rad or m]
  std::vector<SensorLimits> limits = {};
  /// Largest command, one per motor [unit of its control].
  std::vector<double> command_limit = {};
};

/// Returns the quantization step of each encoder's readings [rad or m]; 0 if the readings are not
/// quantized.
std::vector<double> find_quantization_steps(const std::vector<Encoder>& sensors,
                                            const std::vector<Recording>& recordings);

/// Finds faults in recordings without using a model. Examples are outliers, slips, lost time
/// (`find_reading_steps`), clipped readings, and dead or copied channels. Also finds constant
/// commands, a rig held by a hand, and values beyond the rig's limits.
/// @param recordings  without readings of held-out sensors (`split_held_out_sensors`)
SignalExamination examine_signals(const Mechanism& mechanism,
                                  const std::vector<Recording>& recordings,
                                  const SensorDescription& facts = {});

/// Finds faults of recordings in the residuals of a calibration. Residuals reveal smaller outliers
/// and steps than the readings themselves. For physical parameters only.
/// @param recordings  the calibrated recordings
SignalExamination examine_residuals(const Calibration& calibration,
                                    const std::vector<Recording>& recordings);

/// Repaired input of a calibration: recordings with readings rejected and cuts made, and the
/// mechanism with a free parameter for each freed encoder offset.
struct RepairedInput {
  Mechanism mechanism;
  std::vector<Recording> recordings;
};
/// Makes the repairs of an examination, and sets initial values. The freed encoder offsets become
/// the last parameters of the mechanism, in the order of `examination.freed`.
RepairedInput apply_repairs(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            const SignalExamination& examination);

}  // namespace estimator

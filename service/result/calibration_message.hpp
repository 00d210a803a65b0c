#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/misfit/excitation.hpp"
#include "service/options/calibration_request.hpp"
#include "service/recordings/recording_selection.hpp"

namespace service {

/// Sensor reading that rigcal rejected.
struct RejectedReading {
  std::string recording;
  int sensor = 0;      ///< sensor index
  double time = 0.0;   ///< time in the recording [s]
  double value = 0.0;  ///< [rad or m]
  /// True for a correct reading that only repeats another reading, because the joint is at rest or
  /// the sensor is slower than the recording.
  bool is_repetition = false;
};

/// Metadata in the result of a calibration, such as options, recordings and date.
struct CalibrationMetadata {
  std::string rig;         ///< name of the rig, or of the rig file if the rig has none
  std::string version;     ///< version of this program
  double wall_time = 0.0;  ///< duration of the calibration, without loading [s]
  estimator::CalibrationOptions options;
  std::vector<UsedRecording> recordings;
  std::vector<std::string> controls;  ///< label of each motor's control, e.g. "joint 1 [V]"
  std::string command = "calibrate";  ///< rigcal command that made the result
  std::string date = {};              ///< time at which the input was loaded, UTC
  CalibrationRequest request = {};
  std::vector<RejectedReading> held = {};
  std::vector<estimator::Parameter> kept = {};  ///< fixed, but not at the file's value
};

/// Whether a result file contains the measured, estimated and simulated trajectories.
enum class TrajectoryOutput { kLeftOut, kWritten };

/// Returns the result of a calibration as JSON (rigcal.v1.CalibrationResult), with all fields.
std::string calibration_json(const estimator::Calibration& calibration,
                             const CalibrationMetadata& context,
                             TrajectoryOutput trajectories = TrajectoryOutput::kLeftOut);

/// Returns findings about the recordings, and the predicted precision of the parameters, as JSON
/// (rigcal.v1.ExaminationResult).
std::string findings_json(const std::vector<estimator::Finding>& findings,
                          const estimator::PredictedPrecision& excitation,
                          const CalibrationMetadata& context);

}  // namespace service

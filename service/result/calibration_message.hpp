#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/import/calibration_request.hpp"
#include "service/import/recording_use.hpp"

namespace service {

/// A reading that was not used, because something is wrong with it.
struct HeldReading {
  std::string recording;
  int sensor = 0;      ///< its place among the sensors
  double time = 0.0;   ///< [s]
  double value = 0.0;  ///< [rad or m]
};

/// What is known of a calibration beside its result.
struct CalibrationContext {
  std::string rig;         ///< name of the rig, or of its file where it has none
  std::string version;     ///< of this program
  double wall_time = 0.0;  ///< of the calibration alone [s]
  estimator::CalibrationOptions options;
  std::vector<RecordingUse> recordings;
  std::vector<std::string> controls;  ///< label of each motor's control, e.g. "hinge 1 [V]"
  std::string command = "calibrate";  ///< that the result is of
  std::string date = {};              ///< when the input was loaded, UTC
  CalibrationRequest request = {};
  std::vector<HeldReading> held = {};
  std::vector<estimator::Parameter> kept = {};  ///< at another value than the rig file's
};

/// Whether a result holds every row of what was measured, estimated and simulated.
enum class Trajectories { kLeftOut, kWritten };

/// The result as JSON: the proto3 mapping of rigcal.v1.CalibrationResult, every field present.
std::string calibration_json(const estimator::Calibration& calibration,
                             const CalibrationContext& context,
                             Trajectories trajectories = Trajectories::kLeftOut);

}  // namespace service

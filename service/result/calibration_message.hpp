#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "service/import/recording_use.hpp"

namespace service {

/// What is known of a calibration beside its result.
struct CalibrationContext {
  std::string rig;         ///< name of the rig, or of its file where it has none
  std::string version;     ///< of this program
  double wall_time = 0.0;  ///< of the calibration alone [s]
  estimator::CalibrationOptions options;
  std::vector<RecordingUse> recordings;
  std::vector<std::string> controls;  ///< label of each motor's control, e.g. "hinge 1 [V]"
};

/// The result as JSON: the proto3 mapping of rigcal.v1.CalibrationResult, every field present.
std::string calibration_json(const estimator::Calibration& calibration,
                             const CalibrationContext& context);

}  // namespace service

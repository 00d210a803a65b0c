#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "service/import/calibration_request.hpp"
#include "service/import/file_digest.hpp"
#include "service/result/calibrated_rig_file.hpp"

namespace rigcal::v1 {
class CalibrationResult;
}  // namespace rigcal::v1

namespace service {

/// Result of a calibration, read from a file or a service.
struct StoredResult {
  std::string file;  ///< for messages
  CalibratedRig rig;
  Eigen::MatrixXd covariance;           ///< in the order of the estimates
  std::map<std::string, double> noise;  ///< by encoder [rad or m]; may be incomplete
  std::string rig_name;
  std::string rig_text;
  std::string command;  ///< command that made it
  std::string date;
  std::string version;
  std::string build;
  CalibrationRequest request;          ///< recordings have their original paths
  std::vector<FileDigest> recordings;  ///< one per recording of the request
};

/// @throws proto::InputError with file and field, if the provenance is missing
StoredResult stored_result(const std::string& file, const rigcal::v1::CalibrationResult& result);

/// Reads a file written by `rigcal calibrate --json`.
/// @throws proto::InputError with the file and the remedy
StoredResult read_result(const std::string& path);

}  // namespace service

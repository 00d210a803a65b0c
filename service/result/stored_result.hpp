#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "service/options/calibration_request.hpp"
#include "service/recordings/file_digest.hpp"
#include "service/result/calibrated_rig_file.hpp"

namespace rigcal::v1 {
class CalibrationResult;
}  // namespace rigcal::v1

namespace service {

/// Result of an earlier calibration, read from a file or received from a service.
struct StoredResult {
  std::string file;  ///< path of the result for messages
  CalibratedRig rig;
  Eigen::MatrixXd covariance;           ///< covariance of rig.estimates
  std::map<std::string, double> noise;  ///< noise by encoder [rad or m]; may lack some
  std::string rig_name;
  std::string rig_text;
  std::string command;  ///< rigcal command that made the result
  std::string date;
  std::string version;
  std::string build;
  CalibrationRequest request;          ///< request, with the original paths of recordings
  std::vector<FileDigest> recordings;  ///< digest of each recording of the request
};

/// Converts a calibration result that was read from a file or received from a service.
/// @param file  path of the result for messages
/// @throws proto::InputError naming file and field, if the provenance is missing
StoredResult stored_result(const std::string& file, const rigcal::v1::CalibrationResult& result);

/// Reads a calibration result that `rigcal calibrate --json` wrote.
/// @throws proto::InputError naming the file and the remedy
StoredResult read_result(const std::string& path);

}  // namespace service

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

/// Calibration result that was read from a file or received from a service.
struct StoredResult {
  std::string file;  ///< path of the result for messages
  CalibratedParameters rig;
  std::map<std::string, double> noise;  ///< by encoder name [rad or m]; may lack encoders
  std::string rig_label;                ///< name of the rig in its file
  std::string recorded_at;              ///< time of the first recording; empty if unknown
  Eigen::MatrixXd correlation;          ///< of rig.estimates; empty if the result has none
  std::string rig_name;
  std::string rig_text;
  std::string command;  ///< rigcal command that made the result
  std::string date;
  std::string version;
  std::string build;
  CalibrationRequest request;          ///< request, with the original paths of recordings
  std::vector<FileDigest> recordings;  ///< digest of each recording of the request
};

/// Converts a calibration result from its Protobuf message.
/// @param file  path of the result for messages
/// @throws proto::InputError naming file and field, if the provenance is missing
StoredResult convert_stored_result(const std::string& file,
                                   const rigcal::v1::CalibrationResult& result);

/// Converts a calibration result from the JSON that `rigcal calibrate --json` writes.
/// @param file  path of the result for messages
StoredResult parse_stored_result(const std::string& file, const std::string& text);

/// Reads a calibration result that `rigcal calibrate --json` wrote.
StoredResult read_stored_result(const std::string& path);

/// Returns whether two results come from calibrations that used a common recording.
bool have_common_recordings(const StoredResult& first, const StoredResult& second);

/// General data in a result file of any rigcal command, such as command, date and rig.
struct ResultHeader {
  std::string command;  ///< e.g. "calibrate"; empty if not given
  std::string date;
  std::string version;
  std::string rig;  ///< name of the rig
  std::string rig_file;
  std::string verdict;
  std::vector<std::string> recordings;
};

/// Reads the general data of a JSON result file, such as command, date and rig.
/// @throws proto::InputError naming the file and the remedy, if the file is not a result of rigcal
ResultHeader read_result_header(const std::string& path);

/// Returns a description such as "a result of 'rigcal calibrate' 0.1.0 of 2026-11-22T20:15:00Z".
std::string describe_result_file(const ResultHeader& head);

}  // namespace service

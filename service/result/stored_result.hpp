#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "service/import/calibration_request.hpp"
#include "service/import/file_mark.hpp"
#include "service/result/rig_out.hpp"

namespace rigcal::v1 {
class CalibrationResult;
}  // namespace rigcal::v1

namespace service {

/// A calibration's result as a file or a service has it.
struct StoredResult {
  std::string file;  ///< for messages
  CalibratedRig rig;
  Eigen::MatrixXd covariance;           ///< in the order of its estimates
  std::map<std::string, double> noise;  ///< of a reading, by encoder [rad or m]; where it is told
  std::string rig_name;
  std::string rig_text;
  std::string command;  ///< that it is of
  std::string date;
  std::string version;
  std::string build;
  CalibrationRequest request;        ///< its recordings have the paths of then
  std::vector<FileMark> recordings;  ///< as they were, one of each of the request
};

/// @throws proto::InputError where it does not say what it was made from, naming file and field
StoredResult stored_result(const std::string& file, const rigcal::v1::CalibrationResult& result);

/// Reads what `rigcal calibrate --json` wrote.
/// @throws proto::InputError naming the file and what to do
StoredResult read_result(const std::string& path);

}  // namespace service

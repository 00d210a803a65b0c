#pragma once

#include <string>
#include <vector>

namespace service {

/// General data in the result file of any rigcal command, such as command, date and rig.
struct ResultHeader {
  std::string command;  ///< e.g. "calibrate"; empty if not given
  std::string date;
  std::string version;
  std::string rig;  ///< name of the rig
  std::string rig_file;
  std::string verdict;
  std::vector<std::string> recordings;
};

/// Reads the general data of a JSON result file.
/// @throws proto::InputError naming the file and the remedy, if the file is not a result of rigcal
ResultHeader read_result_header(const std::string& path);

/// Describes a result file, e.g. "a result of 'rigcal calibrate' 0.1.0 of 2026-11-22T20:15:00Z".
std::string describe_result(const ResultHeader& head);

}  // namespace service

#pragma once

#include <string>
#include <vector>

namespace service {

/// Header data of a result of any command.
struct ResultHeader {
  std::string command;  ///< "calibrate", "compare" …; empty if missing
  std::string date;
  std::string version;
  std::string rig;  ///< name of the rig
  std::string rig_file;
  std::string verdict;
  std::vector<std::string> recordings;
};

/// Reads the header data of a JSON result.
/// @throws proto::InputError with the file and the remedy, if the file is not a result
ResultHeader read_result_header(const std::string& path);

/// Returns "a result of 'rigcal calibrate' 0.1.0 of 2026-11-22T20:15:00Z".
std::string describe_result(const ResultHeader& head);

}  // namespace service

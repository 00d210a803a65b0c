#pragma once

#include <string>
#include <vector>

namespace service {

/// What a result of any command says of itself.
struct ResultHead {
  std::string command;  ///< "calibrate", "compare" …; empty where it does not say
  std::string date;
  std::string version;
  std::string rig;  ///< its name
  std::string rig_file;
  std::string verdict;
  std::vector<std::string> recordings;
};

/// Reads it from JSON that rigcal wrote.
/// @throws proto::InputError naming the file and what to do, for one that is no such JSON
ResultHead read_result_head(const std::string& path);

/// "a result of 'rigcal calibrate' 0.1.0 of 2026-11-22T20:15:00Z"
std::string name_of_result(const ResultHead& head);

}  // namespace service

#pragma once

#include <map>
#include <string>
#include <vector>

#include "proto/check/number_check.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Rig with the locations of its parameters in the rig file.
struct LocatedRig {
  Rig rig;
  /// Path of message fields that leads to each parameter in the rig file, by parameter name. The
  /// file may lack messages on the path. All parameters of chain { } have the path of chain { }.
  std::map<std::string, std::vector<proto::FieldStep>> places;
};

/// Parses the text of a rig file and locates its parameters.
/// @throws proto::InputError like parse_rig
LocatedRig parse_located_rig(const std::string& path, const std::string& text);

}  // namespace service

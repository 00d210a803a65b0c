#pragma once

#include <map>
#include <string>
#include <vector>

#include "proto/check/number_check.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Rig with the locations of its parameters in the file.
struct LocatedRig {
  Rig rig;
  /// Path to each parameter's message, by parameter name; the path may include missing messages.
  /// All parameters of a chain have the path of the chain.
  std::map<std::string, std::vector<proto::FieldStep>> places;
};

/// @throws proto::InputError as parse_rig
LocatedRig parse_located_rig(const std::string& path, const std::string& text);

}  // namespace service

#pragma once

#include <string>
#include <vector>

#include "service/result/stored_result.hpp"

namespace service {

/// Returns what differs between the inputs of two calibrations, other than the recordings: fields
/// of the rig file, options, changes to parameters, and the version of rigcal. One text per
/// difference, such as `rig file: body "A" mass: 0.2 -> 0.21`.
std::vector<std::string> find_input_changes(const StoredResult& before, const StoredResult& after);

}  // namespace service

#pragma once

#include <string>

#include "daq/commission/commissioning.hpp"

namespace daq {

/// Returns the record of a commissioning as JSON text in the format of proto/commission.proto.
/// @param rig    settings as written to the rig file
/// @param time   UTC, ISO 8601
/// @param notes  sentences for users
std::string commissioning_record_json(const RigConfig& rig, const Commissioning& found,
                                      const std::string& time, const Findings& notes);

}  // namespace daq

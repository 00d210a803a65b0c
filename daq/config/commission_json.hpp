#pragma once

#include <string>

#include "daq/commission/commissioning.hpp"

namespace daq {

/// The record of a commissioning as JSON, proto/commission.proto.
/// @param rig    as it was written
/// @param time   UTC, ISO 8601
/// @param notes  sentences for people
std::string commission_json(const RigConfig& rig, const Commissioning& found,
                            const std::string& time, const Findings& notes);

}  // namespace daq

#pragma once

#include <string>

#include "daq/config/rig_config.hpp"

namespace daq {

/// Descriptions of a joint's positive direction and zero for the operator, from the rig file.
struct JointGuide {
  std::string positive_way;  ///< e.g. "counter-clockwise seen from above"; empty: unknown
  std::string zero;          ///< zero position, e.g. "hanging"
};

/// Reads the descriptions for one joint from a valid rig file.
JointGuide read_joint_guide(const RigConfig& rig, const std::string& joint);

}  // namespace daq

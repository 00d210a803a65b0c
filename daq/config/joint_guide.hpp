#pragma once

#include <string>

#include "daq/config/rig_config.hpp"

namespace daq {

/// Descriptions of a joint's positive direction and zero for the operator, from the rig file.
struct JointGuide {
  std::string positive_way;  ///< "counter-clockwise seen from above"; empty: unknown
  std::string zero;          ///< "hanging"
};

/// @param rig  valid
JointGuide read_joint_guide(const RigConfig& rig, const std::string& joint);

}  // namespace daq

#pragma once

#include <string>

#include "daq/config/rig_config.hpp"

namespace daq {

/// How an operator recognises a joint's positive way and its zero, by the rig file.
struct JointGuide {
  std::string positive_way;  ///< "counter-clockwise seen from above"; empty: the file does not say
  std::string zero;          ///< "hanging"
};

/// @param rig  read before, without faults
JointGuide read_joint_guide(const RigConfig& rig, const std::string& joint);

}  // namespace daq

#pragma once

#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// Reads how each joint with a channel is driven, and its end stops, in the channels' order. Needs
/// only the command limits of `config`.
/// @param place  location of safety { }
/// @throws proto::InputError for a stall command above the largest command
std::vector<JointDrive> read_joint_motion(const rigcal::v1::Rig& rig, const RigConfig& config,
                                          const proto::TextLocator& place);

}  // namespace daq

#pragma once

#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// Reads the drive and the end stops of each joint with a channel, in the order of the channels.
/// Needs only the command limits of `config`.
/// @param place  location of the safety section in the file
/// @throws proto::InputError for a stall command above the largest command
std::vector<JointDrive> read_joint_motion(const rigcal::v1::Rig& rig, const RigConfig& config,
                                          const proto::TextLocator& place);

}  // namespace daq

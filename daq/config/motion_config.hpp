#pragma once

#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// How each joint with a channel is driven and where it stops, in the channels' order; of the
/// limits of `config` it needs those of commands.
/// @param place  of safety { }
/// @throws proto::InputError for a stall command that the motor never reaches
std::vector<JointMotion> read_joint_motion(const rigcal::v1::Rig& rig, const RigConfig& config,
                                           const proto::TextLocator& place);

}  // namespace daq

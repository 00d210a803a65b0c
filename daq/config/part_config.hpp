#pragma once

#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// Reads the inertial sensors listed in the unit section of a rig file, in the order of the list.
/// @param place  location of the unit section in the file
/// @throws proto::InputError for an unknown sensor, one listed twice, or one without counts
std::vector<InertialConfig> read_inertial(const rigcal::v1::Rig& rig,
                                          const proto::TextLocator& place);

/// Reads the limits of inertial sensors from the safety section of a rig file. An omitted longest
/// time without a reading is 0, because its default depends on the unit.
/// @param place  location of the safety section in the file
/// @throws proto::InputError for a sensor that the unit does not read, or that is limited twice
std::vector<InertialLimits> read_inertial_limits(const rigcal::v1::Safety& safety,
                                                 const std::vector<InertialConfig>& sensors,
                                                 const proto::TextLocator& place);

/// Reads the drive and the end stops of each joint with a channel, in the order of the channels.
/// Needs only the command limits of `config`.
/// @param place  location of the safety section in the file
/// @throws proto::InputError for a stall command above the largest command
std::vector<JointDrive> read_joint_motion(const rigcal::v1::Rig& rig, const RigConfig& config,
                                          const proto::TextLocator& place);

}  // namespace daq

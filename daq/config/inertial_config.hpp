#pragma once

#include <vector>

#include "daq/config/rig_config.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// Reads the inertial sensors listed in a rig file's unit { }, in its order.
/// @param place  location of unit { }
/// @throws proto::InputError for an unknown sensor, one listed twice, or one without counts
std::vector<InertialConfig> read_inertial(const rigcal::v1::Rig& rig,
                                          const proto::TextLocator& place);

/// Reads the limits of inertial sensors from safety { }. Times without a fixed default may be 0.
/// @param place  location of safety { }
/// @throws proto::InputError for a sensor that the unit does not read, or that is limited twice
std::vector<InertialLimits> read_inertial_limits(const rigcal::v1::Safety& safety,
                                                 const std::vector<InertialConfig>& sensors,
                                                 const proto::TextLocator& place);

}  // namespace daq

#pragma once

#include <vector>

#include "daq/config/rig_config.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// The inertial sensors that a rig file's unit { } lists, in its order.
/// @param place  of unit { }
/// @throws proto::InputError for an unknown one, one listed twice, or one without counts
std::vector<InertialConfig> read_inertial(const rigcal::v1::Rig& rig,
                                          const proto::TextLocator& place);

/// What is watched of them, by its safety { }; a time that is not stated, and has no default of its
/// own, is 0.
/// @param place  of safety { }
/// @throws proto::InputError for a sensor that the unit does not read, or that is limited twice
std::vector<InertialLimits> read_inertial_limits(const rigcal::v1::Safety& safety,
                                                 const std::vector<InertialConfig>& sensors,
                                                 const proto::TextLocator& place);

}  // namespace daq

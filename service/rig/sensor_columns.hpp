#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Returns the sensor columns that recording { } of a rig file defines. They are ordered by type:
/// inertial sensors, torque and force sensors, position sensors.
/// @param place  location of recording { } in the rig file
/// @throws proto::InputError for an unknown sensor or axis, a wrong unit, two columns for one axis,
///         or one column for two axes
std::vector<SensorColumn> read_sensor_columns(const rigcal::v1::Rig& rig,
                                              const estimator::Mechanism& mechanism,
                                              const proto::TextLocator& place);

}  // namespace service

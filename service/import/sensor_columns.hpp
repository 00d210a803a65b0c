#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Returns the columns in a rig file's recording { } of inertial sensors, then of torque and force
/// sensors, then of position sensors.
/// @param place  location of recording { }
/// @throws proto::InputError for an unknown sensor or axis, a wrong unit, two columns for one axis,
///         or one for two
std::vector<SensorColumn> read_sensor_columns(const rigcal::v1::Rig& rig,
                                              const estimator::Mechanism& mechanism,
                                              const proto::TextLocator& place);

}  // namespace service

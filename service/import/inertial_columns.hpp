#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// The columns of a rig file's recording { } that hold what its inertial sensors read, then those
/// of its sensors of torque and force, then those of its sensors of places.
/// @param place  of recording { }
/// @throws proto::InputError for an unknown sensor, a part it does not have, a unit of the wrong
///         kind, two columns for one axis, or one for two
std::vector<InertialColumn> read_inertial_columns(const rigcal::v1::Rig& rig,
                                                  const estimator::Mechanism& mechanism,
                                                  const proto::TextLocator& place);

}  // namespace service

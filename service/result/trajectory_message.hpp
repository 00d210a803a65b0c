#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "proto/calibration.pb.h"

namespace service {

/// Adds the measured, estimated and simulated trajectories, row by row.
/// @param controls  labels of the motors' controls
void add_trajectories(const estimator::Calibration& calibration,
                      const std::vector<std::string>& controls,
                      google::protobuf::RepeatedPtrField<rigcal::v1::TrajectoryResult>* out_list);

}  // namespace service

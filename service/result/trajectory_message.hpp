#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "proto/calibration.pb.h"

namespace service {

/// Appends the measured, estimated and simulated trajectories of a calibration to a list of a
/// result message.
/// @param controls  label of each motor's control
void add_trajectories(const estimator::Calibration& calibration,
                      const std::vector<std::string>& controls,
                      google::protobuf::RepeatedPtrField<rigcal::v1::TrajectoryResult>* out_list);

}  // namespace service

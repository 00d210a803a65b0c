#pragma once

#include <Eigen/Core>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// A body of the mechanism by its name, or Hinge::kGround where that is allowed.
/// @param field  that holds the name, of the message at `place`
/// @throws proto::InputError where there is none of that name
int find_body(const estimator::Mechanism& mechanism, const std::string& body, const char* field,
              const proto::TextLocator& place, bool ground_allowed);

/// The hinge frame of one side, as a rotation into the body's.
/// @throws proto::InputError for an axis of no length, or a zero mark along it
Eigen::Matrix3d read_hinge_frame(const rigcal::v1::HingeSide& side,
                                 const proto::TextLocator& place);

/// The axes of a sensor, as a rotation into its body's frame, or into the ground's where it is
/// there.
/// @throws proto::InputError for directions of no length, or parallel ones
Eigen::Matrix3d read_sensor_frame(const rigcal::v1::PositionSensor& sensor,
                                  const proto::TextLocator& place);
Eigen::Matrix3d read_sensor_frame(const rigcal::v1::InertialSensor& sensor,
                                  const proto::TextLocator& place);
Eigen::Matrix3d read_sensor_frame(const rigcal::v1::ForceTorqueSensor& sensor,
                                  const proto::TextLocator& place);

}  // namespace service

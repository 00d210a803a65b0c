#pragma once

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/sensor.hpp"
#include "proto/rig.pb.h"

namespace service {

/// What a rig's safety section says of the joint that a sensor reads.
inline estimator::SensorLimits joint_limits(const rigcal::v1::Safety& safety,
                                            const estimator::Sensor& sensor) {
  for (const rigcal::v1::HingeSafety& hinge : safety.hinge()) {
    if (hinge.hinge() != sensor.name) continue;
    if (sensor.kind == estimator::JointKind::kPrismatic) {
      return {hinge.position_m_min(), hinge.position_m_max(), hinge.speed_m_per_s_max()};
    }
    return {hinge.angle_rad_min(), hinge.angle_rad_max(), hinge.speed_rad_per_s_max()};
  }
  return {};
}

}  // namespace service

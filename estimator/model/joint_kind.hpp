#pragma once

#include "estimator/math/turns.hpp"

namespace estimator {

/// How a joint lets its child move against its parent.
enum class JointKind {
  kRevolute,   ///< turns about the axis: coordinate in rad, its force a torque [N·m]
  kPrismatic,  ///< slides along the axis: coordinate in m, its force [N]
};

/// A slide by this much counts as a turn by one radian wherever a threshold is stated in rad: the
/// lever of a small rig, at which a turn by a radian moves a mass about as far [m/rad].
inline constexpr double kSlidePerRadian = 0.1;

/// Units that follow from the kind of a joint, and how its coordinate is compared.
struct JointUnits {
  const char* coordinate;  ///< "rad"
  const char* error;       ///< of a thousandth of it, "mrad"
  const char* rate;        ///< "rad/s"
  const char* noise;       ///< of acceleration noise, "rad/s²/√Hz"
  const char* force;       ///< "N·m"
  const char* quantity;    ///< "angle", what an encoder reads
  double scale;            ///< what counts as a turn by one radian, in the coordinate's unit
};

inline constexpr JointUnits joint_units(JointKind kind) {
  return kind == JointKind::kPrismatic
             ? JointUnits{"m", "mm", "m/s", "m/s²/√Hz", "N", "position", kSlidePerRadian}
             : JointUnits{"rad", "mrad", "rad/s", "rad/s²/√Hz", "N·m", "angle", 1.0};
}

/// A difference of two coordinates of a joint as it is to be judged.
inline double joint_difference(JointKind kind, double difference) {
  return kind == JointKind::kPrismatic ? difference : turn_difference(difference);
}

}  // namespace estimator

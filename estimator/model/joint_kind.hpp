#pragma once

#include <cassert>
#include <numbers>

#include "estimator/math/angle_wrapping.hpp"

namespace estimator {

/// Kind of a joint: the relative motion that it allows.
enum class JointKind {
  kRevolute,   ///< rotation about the axis: coordinate in rad, torque in N·m
  kPrismatic,  ///< translation along the axis: coordinate in m, force in N
  /// One of the four components of a quaternion, with which a spherical or free joint rotates
  kQuaternion,
};

/// Translation that counts as much as a rotation by one radian in thresholds given in rad [m/rad].
/// It is a typical lever arm of a small rig.
inline constexpr double kMetresPerRadian = 0.1;

/// Change of a unit quaternion by a rotation of one radian: half the rotation vector.
inline constexpr double kComponentsPerRadian = 0.5;

/// Units that depend on the kind of a joint.
struct JointUnits {
  const char* coordinate;  ///< unit of the coordinate, "rad"
  const char* error;       ///< unit of a thousandth of the coordinate, "mrad"
  const char* rate;        ///< unit of the rate, "rad/s"
  const char* noise;       ///< unit of acceleration noise, "rad/s²/√Hz"
  const char* force;       ///< unit of the force or torque, "N·m"
  const char* stiffness;   ///< unit of a spring's stiffness, "N·m/rad"
  const char* inertia;     ///< unit of a rotor's inertia, "kg·m²"
  const char* gain;        ///< unit of a motor's gain per unit of its control, "N·m/unit"
  const char* back_emf;    ///< unit of a motor's back-EMF constant, "unit·s/rad"
  const char* quantity;    ///< quantity that an encoder measures, "angle"
  double scale;  ///< translation or angle that counts as one radian, in the coordinate's unit
};

/// A rig-file field of a joint whose name depends on the kind of the joint.
struct KindDependentField {
  const char* part;    ///< submessage of the joint that contains it; "": the joint itself
  const char* name;    ///< field name, such as "rest_angle"
  const char* unit;    ///< unit; "" if the name includes it
  const char* symbol;  ///< suffix of the parameter that it sets, after the joint's name; "" if none
};

/// Properties of a kind of joint. No other code branches on the kind.
struct JointTraits {
  JointKind kind;
  const char* word;  ///< name in rig files: an enumerator of Joint::Kind
  const char* verb;  ///< motion of the joint, for messages: "turns"
  const char* noun;  ///< quantity of its encoder, for messages: "turn"
  /// Whether the child rotates as the coordinate grows; otherwise it translates.
  bool turns;
  /// Whether coordinates that differ by a full turn denote the same position of the joint.
  bool wraps;
  /// Whether the SPOOK stepper supports joints of this kind.
  bool in_spook;
  JointUnits units;
  KindDependentField rest, inertia, counts, constant;
  /// Names of the coordinate and of the rate in rig files, scenarios and columns of recordings:
  /// "angle_rad", "speed_rad_per_s".
  const char* coordinate_field;
  const char* rate_field;
  const char *count, *count_unit;  ///< reference length of an encoder's `counts`: "metre", "m"
  double count_size;               ///< reference length in the coordinate's unit
  const char *urdf, *mjcf;         ///< type names in URDF and MJCF
};

inline constexpr JointTraits kJointKinds[] = {
    {.kind = JointKind::kRevolute,
     .word = "REVOLUTE",
     .verb = "turns",
     .noun = "turn",
     .turns = true,
     .wraps = true,
     .in_spook = true,
     .units = {"rad", "mrad", "rad/s", "rad/s²/√Hz", "N·m", "N·m/rad", "kg·m²", "N·m/unit",
               "unit·s/rad", "angle", 1.0},
     .rest = {"spring", "rest_angle", "rad", "theta_rest"},
     .inertia = {"motor", "shaft_inertia", "kg·m²", "J_shaft"},
     .counts = {"encoder", "counts_per_turn", "", ""},
     .constant = {"", "constant_torque", "N·m", "tau_0"},
     .coordinate_field = "angle_rad",
     .rate_field = "speed_rad_per_s",
     .count = "turn",
     .count_unit = "turn",
     .count_size = 2.0 * std::numbers::pi,
     .urdf = "revolute",
     .mjcf = "hinge"},
    {.kind = JointKind::kPrismatic,
     .word = "PRISMATIC",
     .verb = "slides",
     .noun = "slide",
     .turns = false,
     .wraps = false,
     .in_spook = false,
     .units = {"m", "mm", "m/s", "m/s²/√Hz", "N", "N/m", "kg", "N/unit", "unit·s/m", "position",
               kMetresPerRadian},
     .rest = {"spring", "rest_position", "m", "x_rest"},
     .inertia = {"motor", "reflected_mass", "kg", "m_shaft"},
     .counts = {"encoder", "counts_per_m", "", ""},
     .constant = {"", "constant_force", "N", "f_0"},
     .coordinate_field = "position_m",
     .rate_field = "speed_m_per_s",
     .count = "metre",
     .count_unit = "m",
     .count_size = 1.0,
     .urdf = "prismatic",
     .mjcf = "slide"},
    {.kind = JointKind::kQuaternion,
     .word = "SPHERICAL",
     .verb = "turns about all axes",
     .noun = "orientation",
     .turns = true,
     .wraps = false,
     .in_spook = false,
     .units = {"1", "10⁻³", "1/s", "1/s²/√Hz", "N·m", "N·m", "kg·m²", "N·m/unit", "unit·s",
               "quaternion", kComponentsPerRadian},
     .rest = {"spring", "rest_angle", "rad", "theta_rest"},
     .inertia = {"motor", "shaft_inertia", "kg·m²", "J_shaft"},
     .counts = {"encoder", "counts_per_turn", "", ""},
     .constant = {"", "constant_torque", "N·m", "tau_0"},
     .coordinate_field = "angle_rad",
     .rate_field = "speed_rad_per_s",
     .count = "unit",
     .count_unit = "1",
     .count_size = 1.0,
     .urdf = "",
     .mjcf = ""},
};

inline constexpr const JointTraits& joint_traits(JointKind kind) {
  const JointTraits& traits = kJointKinds[static_cast<int>(kind)];
  assert(traits.kind == kind);  // rows are in the order of the enumerators
  return traits;
}

inline constexpr JointUnits joint_units(JointKind kind) { return joint_traits(kind).units; }

/// Returns the difference of two coordinates of a joint, wrapped to half a turn if the joint wraps.
inline double joint_coordinate_difference(JointKind kind, double difference) {
  return joint_traits(kind).wraps ? wrap_angle_difference(difference) : difference;
}

}  // namespace estimator

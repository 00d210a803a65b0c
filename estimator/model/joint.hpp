#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>

#include "estimator/friction/friction_laws.hpp"
#include "estimator/model/joint_kind.hpp"
#include "estimator/model/joint_parts.hpp"

namespace estimator {

/// Parameters of one joint, its friction, its motor and its encoder. The joint moves body b (child)
/// relative to body a (parent). Joint torques act on body b about the joint axis, and opposite
/// torques on body a. For a prismatic joint read m for rad, N for N·m and kg for kg·m², also in
/// composite units.
enum class JointParameter : int {
  kPointAx,  ///< joint point in the frame of body a, from its centre of mass [m]
  kPointAy,
  kPointAz,
  kPointBx,  ///< joint point in the frame of body b, from its centre of mass [m]
  kPointBy,
  kPointBz,
  kFriction,  ///< index of the first friction parameter (friction/friction_laws.hpp)
  // Friction parameters that code outside the friction laws uses.
  kViscous = kFriction + friction_parameter_index<ViscousDrag>(ViscousDrag::kViscous),
  kQuadraticDrag = kFriction + friction_parameter_index<ViscousDrag>(ViscousDrag::kQuadraticDrag),
  kCoulombTorque =
      kFriction + friction_parameter_index<CoulombStribeck>(CoulombStribeck::kCoulombTorque),
  kStribeckTorque =
      kFriction + friction_parameter_index<CoulombStribeck>(CoulombStribeck::kStribeckTorque),
  kStribeckRate =
      kFriction + friction_parameter_index<CoulombStribeck>(CoulombStribeck::kStribeckRate),
  kLoadFriction = kFriction + friction_parameter_index<LoadFriction>(LoadFriction::kLoadFriction),
  kLoadFrictionAngular =
      kFriction + friction_parameter_index<LoadFriction>(LoadFriction::kLoadFrictionAngular),
  /// Joint torque that does not depend on position and speed [N·m]
  kConstantTorque = kFriction + FrictionLaws::kQuantityCount,
  kStiffness,      ///< spring stiffness k, e.g. of a cable: torque −k (θ − θ_rest) [N·m/rad]
  kRestAngle,      ///< angle θ_rest at which the spring is relaxed [rad]
  kMotorGain,      ///< motor gain K: torque per unit of the control signal [N·m/unit]
  kShaftInertia,   ///< moment of inertia of the motor's rotor about its axis [kg·m²]
  kBackEmf,        ///< k_e: the motor's torque is K (u − k_e ω) [unit·s/rad]
  kInputDelay,     ///< time from the recorded control to its effect [s]
  kEncoderOffset,  ///< offset: the encoder reads θ − offset [rad]
  kEncoderDelay,   ///< delay: a reading at time t is the angle at t − delay [s]
  // An encoder adds s₁ sin ψ + c₁ cos ψ + s₂ sin 2ψ + c₂ cos 2ψ to its exact reading ψ. A disc off
  // the centre of the shaft causes the first harmonic, a tilted or oval disc the second.
  kEncoderSine1,    ///< s₁ [rad]
  kEncoderCosine1,  ///< c₁ [rad]
  kEncoderSine2,    ///< s₂ [rad]
  kEncoderCosine2,  ///< c₂ [rad]
  kStopLower,       ///< lower end stop, the least angle of a joint with that stop [rad]
  kStopUpper,       ///< upper end stop, the largest angle of a joint with that stop [rad]
  kRestitution,     ///< coefficient of restitution of both end stops [-]
  kCoggingSine,    ///< amplitude of sin(nθ) in the cogging torque, n = Motor::cogging_order [N·m]
  kCoggingCosine,  ///< amplitude of cos(nθ) in the cogging torque [N·m]
  /// Relative change of the motor gain per time since the start of the recording [1/s]
  kGainDrift,
  /// Relative decrease of the motor gain per magnitude of the control [1/unit]
  kGainSag,
  /// Relative change of all friction per time since the start of the recording [1/s]
  kFrictionDrift,
  /// Width p of the spring's dead zone, such as the backlash of a gear: the torque is −k times the
  /// part of θ − θ_rest beyond ±p/2 [rad]
  kSpringPlay,
  kCount
};

/// Returns a parameter of a joint's encoder by its place, as in EncoderParameter.
constexpr JointParameter joint_encoder_parameter(int place) {
  return static_cast<JointParameter>(static_cast<int>(JointParameter::kEncoderOffset) + place);
}

/// A revolute or prismatic joint between two bodies, or between a body and the ground; or one
/// coordinate of a spherical or free joint.
///
/// The joint frame has x along the axis and y toward the zero mark. It is specified in the frame of
/// each of the two bodies; the frame of the ground is the world frame. The angle θ is the rotation
/// about x that rotates frame a onto frame b. In a prismatic joint the two frames stay parallel,
/// and the coordinate is the distance of point b from point a along x. Joints may form loops.
///
/// A spherical or free joint has one entry for each of its coordinates, in consecutive order. They
/// connect the same bodies with the same frames, and the points belong to the first entry. The
/// joint frame of body b is that of body a rotated by the quaternion r. Only the direction of r in
/// R⁴ matters: the rotation is that of the unit quaternion r/|r|, so that no orientation is
/// singular. The equation of motion of |r| has no effect on the bodies; it keeps |r| near 1
/// (TreeInverseDynamics). Body a must be nearer to the ground, and the joint must not close a loop.
struct Joint {
  static constexpr int kGround = -1;

  /// Degrees of freedom of the joint to which a coordinate belongs.
  enum class Type {
    kSingle,     ///< one coordinate
    kSpherical,  ///< rotation: the components w, x, y, z of a quaternion
    kFree,       ///< translation x, y, z in the joint frame of body a, then rotation as above
  };

  std::string name;
  JointKind kind = JointKind::kRevolute;
  Type type = Type::kSingle;
  int place = 0;  ///< index of this coordinate among the coordinates of its joint
  int body_a = kGround;                                   ///< parent, index into bodies, or kGround
  int body_b = 0;                                         ///< child, index into bodies
  Eigen::Matrix3d frame_a = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body a
  Eigen::Matrix3d frame_b = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body b

  /// Transition velocity of smoothed Coulomb friction B tanh(ω/transition_speed) [rad/s], with
  /// which a joint creeps under any load. 0: discontinuous friction, with which a joint sticks.
  /// Only the estimation of physical parameters uses it.
  double transition_speed = 0.0;

  /// Approximate initial coordinate, which selects the assembly mode of a loop [rad]; NaN if not
  /// given.
  double assembly_guess = std::numeric_limits<double>::quiet_NaN();

  bool measured = true;  ///< whether the joint has an encoder: one column of the recording
  Motor motor = {};
  EndStops stops = {};
  InitialStatePrior start = {};
  SpookRegularization spook = {};

  /// Returns the number of coordinates of the joint to which this coordinate belongs.
  int coordinate_count() const {
    return type == Type::kSingle ? 1 : type == Type::kSpherical ? 4 : 7;
  }
  /// Returns whether the child rotates and translates, or rotates about several axes.
  bool is_compound() const { return type != Type::kSingle; }

  const JointTraits& kind_traits() const { return joint_traits(kind); }
  JointUnits units() const { return joint_units(kind); }
  double coordinate_difference(double of_coordinates) const {
    return joint_coordinate_difference(kind, of_coordinates);
  }
};

/// Suffixes of the names of a free joint's coordinates; the last four are a spherical joint's.
inline constexpr const char* kCoordinateSuffixes[] = {"_x", "_y", "_z", "_qw", "_qx", "_qy", "_qz"};

/// Returns the name of the joint to which a coordinate belongs: "base" for "base_x".
inline std::string compound_name(const Joint& joint) {
  if (!joint.is_compound()) return joint.name;
  return joint.name.substr(0, joint.name.rfind('_'));
}

/// A fixed joint between two bodies, or between a body and the ground. It has no coordinate: its
/// two joint frames coincide, and so do its two points.
struct FixedJoint {
  std::string name;
  int body_a = Joint::kGround;
  int body_b = 0;
  Eigen::Matrix3d frame_a = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body a
  Eigen::Matrix3d frame_b = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body b
};

/// A mimic joint, coupled without play to another joint, as by a gear, a belt or a spindle. Its
/// coordinate is `ratio` times the other joint's coordinate plus `offset`. Only the estimation of
/// physical parameters uses it.
struct MimicJoint {
  int joint = 0;    ///< the mimic joint
  int follows = 0;  ///< the joint that it mimics
  double ratio = 1.0;
  double offset = 0.0;  ///< [rad or m]
};

}  // namespace estimator

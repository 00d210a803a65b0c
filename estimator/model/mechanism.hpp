#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/friction/friction_laws.hpp"
#include "estimator/model/joint_kind.hpp"
#include "estimator/model/parameter.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {

/// Parameters of one body; the body's frame is at its centre of mass.
enum class BodyQuantity : int {
  kMass,  ///< [kg]
  kJxx,   ///< inertia about the centre of mass in the body frame [kg·m²]
  kJyy,
  kJzz,
  kJxy,  ///< off-diagonal element of the inertia matrix [kg·m²]
  kJxz,
  kJyz,
  kCount
};

/// Parameters of one joint, its friction, its motor and its encoder. The joint moves body b (child)
/// relative to body a (parent). Torques act on b about the joint axis, their opposites on a. For a
/// prismatic joint read m for rad, N for N·m and kg for kg·m², also in composite units.
enum class JointQuantity : int {
  kPointAx,  ///< joint point in the frame of body a, from its centre of mass [m]
  kPointAy,
  kPointAz,
  kPointBx,  ///< joint point in the frame of body b, from its centre of mass [m]
  kPointBy,
  kPointBz,
  kFriction,  ///< first of the quantities of all friction laws (laws/friction_laws.hpp)
  // Friction quantities that are also used outside their laws.
  kViscous = kFriction + friction_index<ViscousDrag>(ViscousDrag::kViscous),
  kQuadraticDrag = kFriction + friction_index<ViscousDrag>(ViscousDrag::kQuadraticDrag),
  kCoulombTorque = kFriction + friction_index<CoulombStribeck>(CoulombStribeck::kCoulombTorque),
  kStribeckTorque = kFriction + friction_index<CoulombStribeck>(CoulombStribeck::kStribeckTorque),
  kStribeckRate = kFriction + friction_index<CoulombStribeck>(CoulombStribeck::kStribeckRate),
  kLoadFriction = kFriction + friction_index<LoadFriction>(LoadFriction::kLoadFriction),
  kLoadFrictionAngular =
      kFriction + friction_index<LoadFriction>(LoadFriction::kLoadFrictionAngular),
  /// torque independent of the state [N·m]
  kConstantTorque = kFriction + FrictionLaws::kQuantityCount,
  kStiffness,      ///< k: torque −k (θ − θ_rest), e.g. of a cable [N·m/rad]
  kRestAngle,      ///< θ_rest [rad]
  kMotorGain,      ///< K: torque per unit of the control signal [N·m/unit]
  kShaftInertia,   ///< J_shaft: inertia of the motor's rotor about the axis [kg·m²]
  kBackEmf,        ///< k_e: torque K (u − k_e ω) [unit·s/rad]
  kInputDelay,     ///< the control acts this much later than recorded [s]
  kEncoderOffset,  ///< the encoder reads θ − offset [rad]
  kEncoderDelay,   ///< a reading taken at t belongs to t − delay [s]
  kStopLower,      ///< lower end stop: θ ≥ this, if the joint has that stop [rad]
  kStopUpper,      ///< upper end stop: θ ≤ this, if the joint has that stop [rad]
  kRestitution,    ///< e: coefficient of restitution of the end stops [-]
  kCount
};

/// Parameters of one encoder between bodies, as kEncoderOffset and kEncoderDelay of a joint.
enum class EncoderQuantity : int { kOffset, kDelay, kCount };

/// Parameters of a body's drag in still air (AirDrag).
enum class AirQuantity : int {
  kCoefficient,  ///< c: force −c |v| v [N·s²/m²]
  kPointX,       ///< point of application, in the body frame from its centre of mass [m]
  kPointY,
  kPointZ,
  kCount
};

/// Parameters of the environment. World y points up when both tilt angles are zero.
enum class WorldQuantity : int {
  kGravity,  ///< magnitude of the gravitational acceleration [m/s²]
  kTiltX,    ///< gravity is (0, −g, 0) rotated by the rotation vector (tilt_x, 0, tilt_z) [rad];
  kTiltZ,    ///< a rotation about gravity is unobservable, hence two angles
  kCount
};

/// A rigid body. Its quantities are parameters of the mechanism.
struct Body {
  std::string name;
  /// Whether it has neither mass nor inertia. It connects the axes of a multi-axis joint, as the
  /// cross of a universal joint does. It must carry another body.
  bool massless = false;
  /// Relative standard deviation of each principal moment of its pseudo-inertia, if the inertia
  /// comes from CAD (InertiaPrior). The CAD values are the means of the parameters' priors.
  /// Infinite: no prior. Used for physical parameters only.
  double cad_uncertainty = std::numeric_limits<double>::infinity();
  /// Recordings in which it is present, by name with * as a wildcard; empty: all of them.
  std::vector<std::string> present_in_recordings = {};
};

/// Gaussian prior of a number.
struct GaussianPrior {
  double mean = 0.0;
  double standard_deviation = std::numeric_limits<double>::infinity();  ///< infinite: no prior
};

/// A joint between two bodies, or between a body and the ground: revolute or prismatic.
///
/// The joint frame has x along the axis and y toward the zero mark. It is given once in each body's
/// frame (for the ground: in the world frame). The angle θ is the rotation about x that carries
/// frame a onto frame b. In a prismatic joint both frames stay parallel, and the coordinate is the
/// distance of point b from point a along x. The joints may form any graph.
struct Joint {
  static constexpr int kGround = -1;
  static constexpr double kAutomaticDamping = -1.0;  ///< τ = h/4, see damping_time_of

  std::string name;
  JointKind kind = JointKind::kRevolute;
  int body_a = kGround;                                   ///< parent, index into bodies, or kGround
  int body_b = 0;                                         ///< child, index into bodies
  Eigen::Matrix3d frame_a = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body a
  Eigen::Matrix3d frame_b = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body b

  /// ε^(ℓ) of the three point rows [m/N], ≥ 0. The default is practically rigid for a table-top
  /// rig. It is above zero so that closed loops, whose rows are linearly dependent, can be solved.
  double compliance_linear = 1e-8;
  double compliance_angular = 1e-8;         ///< ε^(r) of the two axis rows [rad/(N·m)], ≥ 0
  double damping_time = kAutomaticDamping;  ///< τ of all five rows [s], ≥ 0 or automatic
  /// Speed below which dry friction sticks, the width of its regularization [rad/s], > 0.
  double stick_speed = 0.01;
  /// Transition velocity of the smoothed Coulomb law B tanh(ω/transition_speed) [rad/s]. The joint
  /// then creeps under any load. 0: set-valued friction that sticks. Used for physical parameters
  /// only.
  double transition_speed = 0.0;

  /// Approximate initial coordinate, which selects the assembly mode of a loop [rad]; NaN: not
  /// given.
  double assembly_guess = std::numeric_limits<double>::quiet_NaN();

  bool measured = true;    ///< has an encoder: one column of the recording (Encoder)
  bool motorised = false;  ///< has a motor: one column of the control signal

  /// Turns of the motor's rotor per turn of the joint, if the rotor sits in body a and rotates with
  /// it. 0: this coupling is neglected. Used for physical parameters only.
  double gear_ratio = 0.0;

  /// Standard deviation, per sample, of the recorded control about the control that acted, such as
  /// the noise of a measured torque [unit of the control]. 0: the recorded control acted. Used for
  /// physical parameters of mechanisms without loops only.
  double control_noise = 0.0;

  /// Whether it has an end stop at its lower and upper end (Impact). Used for physical parameters
  /// of mechanisms without loops only.
  bool stops_lower = false, stops_upper = false;

  /// Prior of the state at the start of a recording [rad, rad/s]. Physical parameters only.
  GaussianPrior start_angle = {}, start_rate = {};

  const JointTraits& traits() const { return joint_traits(kind); }
  JointUnits units() const { return joint_units(kind); }
  double difference(double of_coordinates) const { return joint_difference(kind, of_coordinates); }
};

/// A fixed joint between two bodies, or between a body and the ground. It has no coordinate; the
/// frames coincide, and so do the two points.
struct FixedJoint {
  std::string name;
  int body_a = Joint::kGround;
  int body_b = 0;
  Eigen::Matrix3d frame_a = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body a
  Eigen::Matrix3d frame_b = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body b
};

/// A mimic joint: it follows another without play, as through a gear, a belt or a spindle. Its
/// coordinate is `ratio` times the other's plus `offset`. Used for physical parameters only.
struct MimicJoint {
  int joint = 0;    ///< the mimic joint
  int follows = 0;  ///< the joint that it follows
  double ratio = 1.0;
  double offset = 0.0;  ///< [rad or m]
};

/// An encoder that is not at one joint. It reads the rotation or translation of body b relative to
/// body a, minus an offset. An inclinometer has the ground as body a (Encoder).
struct BodyEncoder {
  std::string name;
  int body_a = Joint::kGround;  ///< index into bodies, or kGround
  int body_b = 0;
};

/// Bodies, joints and the values of all their parameters. It holds no state.
///
/// `parameters` holds, in this order: kBodyQuantities of each body, kJointQuantities of each joint,
/// kFixedJointQuantities of each fixed joint, kWorldQuantities, kEncoderQuantities of each encoder
/// between bodies, kSensorQuantities of each sensor, kAirQuantities of each body, and last any
/// further parameters on which others depend. `make_parameters` builds it with names, units and
/// physical bounds.
struct Mechanism {
  static constexpr int kBodyQuantities = static_cast<int>(BodyQuantity::kCount);
  static constexpr int kJointQuantities = static_cast<int>(JointQuantity::kCount);
  /// Parameters of a fixed joint: its two points, the first of JointQuantity.
  static constexpr int kFixedJointQuantities = static_cast<int>(JointQuantity::kPointBz) + 1;
  static constexpr int kWorldQuantities = static_cast<int>(WorldQuantity::kCount);
  static constexpr int kEncoderQuantities = static_cast<int>(EncoderQuantity::kCount);
  static constexpr int kSensorQuantities = static_cast<int>(SensorQuantity::kCount);
  static constexpr int kAirQuantities = static_cast<int>(AirQuantity::kCount);

  std::string name;
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<FixedJoint> fixed_joints;
  std::vector<MimicJoint> mimic_joints;  ///< at most one per joint
  std::vector<BodyEncoder> body_encoders;
  std::vector<Sensor> sensors;
  ParameterList parameters;
  std::vector<ParameterDependency> dependencies;  ///< resolved, and applied to the values
  std::vector<std::string> held_out;  ///< names of held-out sensors (their readings are unused)

  int body_count() const { return static_cast<int>(bodies.size()); }
  int joint_count() const { return static_cast<int>(joints.size()); }
  int fixed_joint_count() const { return static_cast<int>(fixed_joints.size()); }
  int body_encoder_count() const { return static_cast<int>(body_encoders.size()); }
  int sensor_count() const { return static_cast<int>(sensors.size()); }

  int index(int body, BodyQuantity quantity) const {
    return body * kBodyQuantities + static_cast<int>(quantity);
  }
  int index_of_joint(int joint, JointQuantity quantity) const {
    return body_count() * kBodyQuantities + joint * kJointQuantities + static_cast<int>(quantity);
  }
  int index_of_fixed_joint(int weld, JointQuantity point) const {
    return body_count() * kBodyQuantities + joint_count() * kJointQuantities +
           weld * kFixedJointQuantities + static_cast<int>(point);
  }
  int index(WorldQuantity quantity) const {
    return index_of_fixed_joint(fixed_joint_count(), JointQuantity::kPointAx) +
           static_cast<int>(quantity);
  }
  int index_of_body_encoder(int encoder, EncoderQuantity quantity) const {
    return index(WorldQuantity::kCount) + encoder * kEncoderQuantities + static_cast<int>(quantity);
  }
  int index_of_sensor(int sensor, SensorQuantity quantity) const {
    return index_of_body_encoder(body_encoder_count(), {}) + sensor * kSensorQuantities +
           static_cast<int>(quantity);
  }
  int index_of_air(int body, AirQuantity quantity) const {
    return index_of_sensor(sensor_count(), {}) + body * kAirQuantities + static_cast<int>(quantity);
  }

  Parameter& parameter(int body, BodyQuantity quantity) {
    return parameters[static_cast<std::size_t>(index(body, quantity))];
  }
  const Parameter& parameter(int body, BodyQuantity quantity) const {
    return parameters[static_cast<std::size_t>(index(body, quantity))];
  }
  Parameter& joint_parameter(int joint, JointQuantity quantity) {
    return parameters[static_cast<std::size_t>(index_of_joint(joint, quantity))];
  }
  const Parameter& joint_parameter(int joint, JointQuantity quantity) const {
    return parameters[static_cast<std::size_t>(index_of_joint(joint, quantity))];
  }
  Parameter& fixed_joint_parameter(int weld, JointQuantity point) {
    return parameters[static_cast<std::size_t>(index_of_fixed_joint(weld, point))];
  }
  Parameter& sensor_parameter(int sensor, SensorQuantity quantity) {
    return parameters[static_cast<std::size_t>(index_of_sensor(sensor, quantity))];
  }
  Parameter& parameter(WorldQuantity quantity) {
    return parameters[static_cast<std::size_t>(index(quantity))];
  }
  const Parameter& parameter(WorldQuantity quantity) const {
    return parameters[static_cast<std::size_t>(index(quantity))];
  }

  /// Index of the parameter with that name, or −1.
  int find_parameter(std::string_view parameter_name) const;
};

/// The parameter at that index.
inline const Parameter& parameter_at(const Mechanism& mechanism, int index) {
  return mechanism.parameters[static_cast<std::size_t>(index)];
}

/// The coupling of a mimic joint; nullptr for any other joint.
const MimicJoint* find_mimic_joint(const Mechanism& mechanism, int joint);

/// Values of all parameters, in their order [SI].
std::vector<double> parameter_values(const Mechanism& mechanism);

/// Fills `mechanism.parameters` for its bodies and joints. Sets names ("A.J_zz", "1.b",
/// "gravity.tilt_x"), units by joint kind, neutral values (mass 1 kg, inertia 1 kg·m², the rest 0,
/// gravity 9.82 m/s²) and physical bounds (masses, inertias, friction ≥ 0). No parameter is free.
void make_parameters(Mechanism& mechanism);

/// The unit of a joint's quantity; the control has the unit "unit".
std::string_view unit_of(JointKind kind, JointQuantity quantity);

/// Quantity that an instrument of a sensor measures, translational at a prismatic joint.
const ReadingTraits& reading_of(const Mechanism& mechanism, const Sensor& sensor,
                                const Instrument& instrument);

/// Whether air drag acts on a body, or may after estimation.
bool has_air_drag(const Mechanism& mechanism, int body);

/// @throws std::invalid_argument "joint '…': …" for a prismatic or fixed joint, or for an element
/// that only the equations of motion in joint coordinates support
void require_spook_support(const Mechanism& mechanism);

/// Copies the parameter values of `from` to `to`, a mechanism with the same structure.
void copy_parameter_values(const Mechanism& from, Mechanism& to);

enum class InertiaCheck { kAll, kFixed };

/// Returns the errors of the mechanism, one sentence each naming the body or joint; empty if it is
/// valid. Checks names, body indices, frames (rotations), masses, inertias (positive definite,
/// triangle inequality), bounds, compliances, and that every body is connected to the ground.
///
/// @param inertias  kFixed allows estimated inertias to violate the triangle inequality: an initial
/// value may be far from the true one in a single moment
std::vector<std::string> find_errors(const Mechanism& mechanism,
                                     InertiaCheck inertias = InertiaCheck::kAll);

}  // namespace estimator

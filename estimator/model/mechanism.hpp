#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/laws/friction_laws.hpp"
#include "estimator/model/inertial_sensor.hpp"
#include "estimator/model/joint_kind.hpp"
#include "estimator/model/parameter.hpp"
#include "estimator/model/ties.hpp"

namespace estimator {

/// Quantities of one body; the body's frame sits at its centre of mass.
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

/// Quantities of one hinge, its friction, its motor and its encoder. The hinge turns body b
/// (child) against body a (parent); torques act on b about the hinge axis and their opposites on a.
/// Of a joint that slides read m for rad, N for N·m and kg for kg·m², also in what a ratio is of.
enum class HingeQuantity : int {
  kPointAx,  ///< hinge point in the frame of body a, from its centre of mass [m]
  kPointAy,
  kPointAz,
  kPointBx,  ///< hinge point in the frame of body b, from its centre of mass [m]
  kPointBy,
  kPointBz,
  kFriction,  ///< the first of the quantities of all friction laws (laws/friction_laws.hpp)
  // Those of them that more knows than their laws.
  kViscous = kFriction + place_of_friction<DragLaw>(DragLaw::kViscous),
  kQuadraticDrag = kFriction + place_of_friction<DragLaw>(DragLaw::kQuadraticDrag),
  kCoulombTorque = kFriction + place_of_friction<DryLaw>(DryLaw::kCoulombTorque),
  kStribeckTorque = kFriction + place_of_friction<DryLaw>(DryLaw::kStribeckTorque),
  kStribeckRate = kFriction + place_of_friction<DryLaw>(DryLaw::kStribeckRate),
  kLoadFriction = kFriction + place_of_friction<LoadLaw>(LoadLaw::kLoadFriction),
  kLoadFrictionAngular = kFriction + place_of_friction<LoadLaw>(LoadLaw::kLoadFrictionAngular),
  /// torque that does not depend on the state [N·m]
  kConstantTorque = kFriction + FrictionLaws::kQuantityCount,
  kStiffness,      ///< k: torque −k (θ − θ_rest), e.g. of a cable [N·m/rad]
  kRestAngle,      ///< θ_rest [rad]
  kMotorGain,      ///< K: torque per unit of the control signal [N·m/unit]
  kShaftInertia,   ///< J_shaft: inertia of the motor's shaft about the axis [kg·m²]
  kBackEmf,        ///< k_e: torque K (u − k_e ω) [unit·s/rad]
  kInputDelay,     ///< the control acts this much later than recorded [s]
  kEncoderOffset,  ///< the encoder reads θ − offset [rad]
  kEncoderDelay,   ///< a reading of the encoder is of so long before [s]
  kStopLower,      ///< θ is nowhere below, where the hinge has that stop [rad]
  kStopUpper,      ///< θ is nowhere above, where the hinge has that stop [rad]
  kRestitution,    ///< e: it leaves its stops at e times the speed it struck them at [-]
  kCount
};

/// Quantities of one encoder between bodies: as kEncoderOffset and kEncoderDelay of a hinge.
enum class EncoderQuantity : int { kOffset, kDelay, kCount };

/// Quantities of what holds a body back in still air (AirDrag).
enum class AirQuantity : int {
  kCoefficient,  ///< c: force −c |v| v [N·s²/m²]
  kPointX,       ///< where it acts, in the body frame from its centre of mass [m]
  kPointY,
  kPointZ,
  kCount
};

/// Quantities of the surroundings. World y points up when both tilt angles are zero.
enum class WorldQuantity : int {
  kGravity,  ///< magnitude of the gravitational acceleration [m/s²]
  kTiltX,    ///< gravity is (0, −g, 0) turned by the rotation vector (tilt_x, 0, tilt_z) [rad];
  kTiltZ,    ///< a turn about gravity itself cannot be seen, hence two angles
  kCount
};

/// A rigid body. Its quantities are parameters of the mechanism.
struct Body {
  std::string name;
  /// It has neither mass nor inertia: what stands between the axes of a joint of several, such as
  /// the cross of a universal joint. It must carry something.
  bool massless = false;
  /// How well the drawing is known that its inertia comes from, by share of each principal moment
  /// of its pseudo-inertia (InertiaPrior); the drawing's values are the means of the parameters'
  /// priors. Infinite: nothing is known beforehand. Physical parameters alone
  double drawing_deviation = std::numeric_limits<double>::infinity();
  /// Recordings that it is there in, by name with * for anything; empty: all of them
  std::vector<std::string> only_in = {};
};

/// What is known beforehand of a number, as a Gaussian.
struct Expectation {
  double mean = 0.0;
  double standard_deviation = std::numeric_limits<double>::infinity();  ///< infinite: nothing
};

/// A joint between two bodies, or between a body and the ground: a hinge, or one that slides.
///
/// The hinge frame has x along the axis and y toward the zero mark; it is given once in each
/// body's frame (for the ground: in the world frame). The hinge angle θ is the rotation about x
/// that carries frame a onto frame b. Where the joint slides both frames stay parallel, and the
/// coordinate is how far point b lies from point a along x. Neither tree nor chain is assumed: any
/// graph is allowed.
struct Hinge {
  static constexpr int kGround = -1;
  static constexpr double kAutomaticDamping = -1.0;  ///< τ = h/4, see damping_time_of

  std::string name;
  JointKind kind = JointKind::kRevolute;
  int body_a = kGround;                                   ///< parent, index into bodies, or kGround
  int body_b = 0;                                         ///< child, index into bodies
  Eigen::Matrix3d frame_a = Eigen::Matrix3d::Identity();  ///< rotation: hinge frame → body a
  Eigen::Matrix3d frame_b = Eigen::Matrix3d::Identity();  ///< rotation: hinge frame → body b

  /// ε^(ℓ) of the three point rows [m/N], ≥ 0. The default is rigid for any rig on a table, and
  /// still above zero, so that closed loops, whose rows depend on one another, can be solved.
  double compliance_linear = 1e-8;
  double compliance_angular = 1e-8;         ///< ε^(r) of the two axis rows [rad/(N·m)], ≥ 0
  double damping_time = kAutomaticDamping;  ///< τ of all five rows [s], ≥ 0 or automatic
  /// Speed below which dry friction sticks, the width of its regularisation [rad/s], > 0.
  double stick_speed = 0.01;
  /// Dry friction is B tanh(ω/creep_speed) instead of a set of values at rest: the joint holds
  /// nothing, but creeps under any load. 0: it holds. Physical parameters alone [rad/s]
  double creep_speed = 0.0;

  /// About where the joint stands when the motion begins, where that decides in which of several
  /// ways a loop is assembled; NaN: not told [rad]
  double assembled_at = std::numeric_limits<double>::quiet_NaN();

  bool measured = true;    ///< an encoder reads it: one column of the recording (Sensor)
  bool motorised = false;  ///< a motor drives it: one column of the control signal

  /// Turns of the motor's rotor a turn of the joint, where the rotor sits in body a and turns with
  /// it; 0: what that adds is left out. Physical parameters alone
  double gear_ratio = 0.0;

  /// Standard deviation of what is recorded of the motor's control about what acted, from sample to
  /// sample, such as the noise of a torque that is measured; 0: what is recorded acted. Physical
  /// parameters of mechanisms without loops alone [unit of the control]
  double control_noise = 0.0;

  /// Whether it strikes an end stop at either end of its way (Impact). Physical parameters of
  /// mechanisms without loops alone
  bool stops_lower = false, stops_upper = false;

  /// Where, and how fast, it is when a recording begins [rad, rad/s]. Physical parameters alone
  Expectation start_angle = {}, start_rate = {};

  const JointTraits& traits() const { return joint_traits(kind); }
  JointUnits units() const { return joint_units(kind); }
  double difference(double of_coordinates) const { return joint_difference(kind, of_coordinates); }
};

/// A fixed joint: it holds two bodies together as one, or a body to the ground. It has no
/// coordinate. The frames coincide, and so do the two points.
struct Weld {
  std::string name;
  int body_a = Hinge::kGround;
  int body_b = 0;
  Eigen::Matrix3d frame_a = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body a
  Eigen::Matrix3d frame_b = Eigen::Matrix3d::Identity();  ///< rotation: joint frame → body b
};

/// A joint that follows another without play, as a gear, a belt or a spindle demands: its
/// coordinate is `ratio` times the other's plus `offset`. Physical parameters alone
struct Coupling {
  int hinge = 0;    ///< that follows
  int follows = 0;  ///< the other
  double ratio = 1.0;
  double offset = 0.0;  ///< [rad or m]
};

/// An encoder that is on no one joint: it reads how body b has turned, or slid, against body a,
/// less an offset. An inclination is one against the ground (Sensor).
struct BodyEncoder {
  std::string name;
  int body_a = Hinge::kGround;  ///< index into bodies, or kGround
  int body_b = 0;
};

/// Bodies, joints and the values of all their quantities. Pure description: no state.
///
/// `parameters` holds, in this order: kBodyQuantities of each body, kHingeQuantities of each
/// hinge, kWeldQuantities of each weld, kWorldQuantities, kEncoderQuantities of each encoder
/// between bodies, kInertialQuantities of each inertial sensor, kAirQuantities of each body; behind
/// these whatever else parameters may be tied to. `make_parameters` builds it with names, units and
/// physical bounds.
struct Mechanism {
  static constexpr int kBodyQuantities = static_cast<int>(BodyQuantity::kCount);
  static constexpr int kHingeQuantities = static_cast<int>(HingeQuantity::kCount);
  /// Of a weld: its two points, the first of HingeQuantity.
  static constexpr int kWeldQuantities = static_cast<int>(HingeQuantity::kPointBz) + 1;
  static constexpr int kWorldQuantities = static_cast<int>(WorldQuantity::kCount);
  static constexpr int kEncoderQuantities = static_cast<int>(EncoderQuantity::kCount);
  static constexpr int kInertialQuantities = static_cast<int>(InertialQuantity::kCount);
  static constexpr int kAirQuantities = static_cast<int>(AirQuantity::kCount);

  std::string name;
  std::vector<Body> bodies;
  std::vector<Hinge> hinges;
  std::vector<Weld> welds;
  std::vector<Coupling> couplings;  ///< one a joint at most
  std::vector<BodyEncoder> body_encoders;
  std::vector<InertialSensor> inertial_sensors;
  ParameterList parameters;
  std::vector<Tie> ties;              ///< resolved, and applied to the values
  std::vector<std::string> withheld;  ///< sensors whose readings are not used, by name

  int body_count() const { return static_cast<int>(bodies.size()); }
  int hinge_count() const { return static_cast<int>(hinges.size()); }
  int weld_count() const { return static_cast<int>(welds.size()); }
  int body_encoder_count() const { return static_cast<int>(body_encoders.size()); }
  int inertial_count() const { return static_cast<int>(inertial_sensors.size()); }

  int index(int body, BodyQuantity quantity) const {
    return body * kBodyQuantities + static_cast<int>(quantity);
  }
  int index_of_hinge(int hinge, HingeQuantity quantity) const {
    return body_count() * kBodyQuantities + hinge * kHingeQuantities + static_cast<int>(quantity);
  }
  int index_of_weld(int weld, HingeQuantity point) const {
    return body_count() * kBodyQuantities + hinge_count() * kHingeQuantities +
           weld * kWeldQuantities + static_cast<int>(point);
  }
  int index(WorldQuantity quantity) const {
    return index_of_weld(weld_count(), HingeQuantity::kPointAx) + static_cast<int>(quantity);
  }
  int index_of_body_encoder(int encoder, EncoderQuantity quantity) const {
    return index(WorldQuantity::kCount) + encoder * kEncoderQuantities + static_cast<int>(quantity);
  }
  int index_of_inertial(int sensor, InertialQuantity quantity) const {
    return index_of_body_encoder(body_encoder_count(), {}) + sensor * kInertialQuantities +
           static_cast<int>(quantity);
  }
  int index_of_air(int body, AirQuantity quantity) const {
    return index_of_inertial(inertial_count(), {}) + body * kAirQuantities +
           static_cast<int>(quantity);
  }

  Parameter& parameter(int body, BodyQuantity quantity) {
    return parameters[static_cast<std::size_t>(index(body, quantity))];
  }
  const Parameter& parameter(int body, BodyQuantity quantity) const {
    return parameters[static_cast<std::size_t>(index(body, quantity))];
  }
  Parameter& hinge_parameter(int hinge, HingeQuantity quantity) {
    return parameters[static_cast<std::size_t>(index_of_hinge(hinge, quantity))];
  }
  const Parameter& hinge_parameter(int hinge, HingeQuantity quantity) const {
    return parameters[static_cast<std::size_t>(index_of_hinge(hinge, quantity))];
  }
  Parameter& weld_parameter(int weld, HingeQuantity point) {
    return parameters[static_cast<std::size_t>(index_of_weld(weld, point))];
  }
  Parameter& inertial_parameter(int sensor, InertialQuantity quantity) {
    return parameters[static_cast<std::size_t>(index_of_inertial(sensor, quantity))];
  }
  Parameter& parameter(WorldQuantity quantity) {
    return parameters[static_cast<std::size_t>(index(quantity))];
  }
  const Parameter& parameter(WorldQuantity quantity) const {
    return parameters[static_cast<std::size_t>(index(quantity))];
  }

  /// Index of the parameter of that name, or −1.
  int find_parameter(std::string_view parameter_name) const;
};

/// The parameter of that index.
inline const Parameter& parameter_at(const Mechanism& mechanism, int index) {
  return mechanism.parameters[static_cast<std::size_t>(index)];
}

/// How a joint follows another; none where it does not.
const Coupling* find_coupling(const Mechanism& mechanism, int hinge);

/// Values of all parameters, in their order [SI].
std::vector<double> values_of(const Mechanism& mechanism);

/// Fills `mechanism.parameters` for its bodies and joints with names ("A.J_zz", "1.b",
/// "gravity.tilt_x"), units as the kind of a joint demands, neutral values (mass 1 kg, inertia 1
/// kg·m², the rest 0, gravity 9.82 m/s²) and the bounds physics sets (masses, inertias, friction ≥
/// 0). Nothing is free.
void make_parameters(Mechanism& mechanism);

/// The unit of a joint's quantity, the control's being "unit".
std::string_view unit_of(JointKind kind, HingeQuantity quantity);

/// What an instrument of a sensor reads: of a joint that slides what that is along a slide.
const ReadingTraits& reading_of(const Mechanism& mechanism, const InertialSensor& sensor,
                                const Instrument& instrument);

/// Whether the air holds a body back, or may be found to.
bool has_air_drag(const Mechanism& mechanism, int body);

/// @throws std::invalid_argument "joint '…': …" where a joint slides or holds fast, or has what
///         only the equations of motion in joint coordinates know
void require_hinges(const Mechanism& mechanism);

/// Gives the parameters of `to` the values of those of `from`, a mechanism of the same build.
void take_values(const Mechanism& from, Mechanism& to);

enum class InertiaCheck { kAll, kFixed };

/// What is wrong with the mechanism, one sentence each naming the body or hinge; empty when
/// nothing is. Checks names, body indices, frames (rotations), masses, inertias (positive definite,
/// triangle inequality), bounds, compliances, and that every body is reachable from the ground.
///
/// @param inertias  kFixed lets estimated inertias violate the triangle inequality: a start value
///                  is a guess, and may be far from the truth in one moment alone
std::vector<std::string> find_faults(const Mechanism& mechanism,
                                     InertiaCheck inertias = InertiaCheck::kAll);

}  // namespace estimator

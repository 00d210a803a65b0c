#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/messages/message.hpp"
#include "estimator/model/ground_contact.hpp"
#include "estimator/model/joint.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {

/// Parameters of one body. The origin of the body frame is the centre of mass.
enum class BodyParameter : int {
  kMass,  ///< [kg]
  kJxx,   ///< inertia about the centre of mass in the body frame [kg·m²]
  kJyy,
  kJzz,
  kJxy,  ///< off-diagonal element of the inertia matrix [kg·m²]
  kJxz,
  kJyz,
  kCount
};

/// Parameters of one encoder between two bodies, defined and ordered as for the encoder of a joint.
enum class EncoderParameter : int { kOffset, kDelay, kSine1, kCosine1, kSine2, kCosine2, kCount };

/// Parameters of a body's drag in still air (AirDrag).
enum class AirDragParameter : int {
  kCoefficient,  ///< c: drag force −c |v| v at the velocity v [N·s²/m²]
  kPointX,       ///< point where drag acts, in the body frame from the centre of mass [m]
  kPointY,
  kPointZ,
  kCount
};

/// Parameters of gravity and of the vibration of the ground. The world's y axis points up when both
/// tilt angles are zero.
enum class GravityParameter : int {
  kGravity,  ///< magnitude of the gravitational acceleration [m/s²]
  kTiltX,    ///< gravity is (0, −g, 0) rotated by the rotation vector (tilt_x, 0, tilt_z) [rad];
  kTiltZ,    ///< a rotation about gravity is unobservable, hence two angles
  kVibrationFrequency,  ///< frequency f of the ground's vibration [Hz]
  /// Amplitude of sin(2πft) in the acceleration of the ground along x, at the time t since the
  /// start of the recording [m/s²]; then that of cos(2πft), and the same along y and z
  kVibrationXSine,
  kVibrationZCosine = kVibrationXSine + 5,
  kCount
};

/// A rigid body. Its mass and inertia are parameters of the mechanism.
struct Body {
  std::string name;
  /// Whether the body has neither mass nor inertia. A massless body connects the axes of a
  /// multi-axis joint, as the cross of a universal joint does. It must carry another body.
  bool massless = false;
  /// Relative standard deviation of each principal moment of the pseudo-inertia of a body with an
  /// inertia from CAD (InertiaPrior). The prior means of the parameters are the CAD values.
  /// Infinite: no prior. Only the estimation of physical parameters uses it.
  double cad_uncertainty = std::numeric_limits<double>::infinity();
  /// Names of the recordings in which the body is present, with * as a wildcard; empty: all
  /// recordings.
  std::vector<std::string> present_in_recordings = {};
};

/// An encoder between any two bodies. It reads the rotation or translation of body b relative to
/// body a, minus an offset. For an inclinometer, body a is the ground.
struct BodyEncoder {
  std::string name;
  int body_a = Joint::kGround;  ///< index into bodies, or kGround
  int body_b = 0;
};

/// Bodies, joints and sensors of a mechanism, and the values of all parameters. It has no state.
///
/// `parameters` has this order: kBodyParameters of each body, kJointParameters of each joint,
/// kFixedJointParameters of each fixed joint, kGravityParameters, kEncoderParameters of each
/// encoder between bodies, kSensorParameters of each sensor, kAirDragParameters of each body,
/// kContactParameters of each contact. Further parameters, on which other parameters depend, are
/// last. `make_parameters` creates the list with names, units and physical bounds.
struct Mechanism {
  static constexpr int kBodyParameters = static_cast<int>(BodyParameter::kCount);
  static constexpr int kJointParameters = static_cast<int>(JointParameter::kCount);
  /// Number of parameters of a fixed joint: its two points, which come first in JointParameter.
  static constexpr int kFixedJointParameters = static_cast<int>(JointParameter::kPointBz) + 1;
  static constexpr int kGravityParameters = static_cast<int>(GravityParameter::kCount);
  static constexpr int kEncoderParameters = static_cast<int>(EncoderParameter::kCount);
  static constexpr int kSensorParameters = static_cast<int>(SensorParameter::kCount);
  static constexpr int kAirDragParameters = static_cast<int>(AirDragParameter::kCount);
  static constexpr int kContactParameters = static_cast<int>(ContactParameter::kCount);

  std::string name;
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<FixedJoint> fixed_joints;
  std::vector<MimicJoint> mimic_joints;  ///< at most one per joint
  std::vector<BodyEncoder> body_encoders;
  std::vector<Sensor> sensors;
  std::vector<GroundContact> contacts;
  ParameterList parameters;
  std::vector<ParameterDependency>
      dependencies;                   ///< all by independent parameters, and applied to the values
  std::vector<std::string> held_out;  ///< names of held-out sensors, whose readings are not used

  int body_count() const { return static_cast<int>(bodies.size()); }
  int joint_count() const { return static_cast<int>(joints.size()); }
  int fixed_joint_count() const { return static_cast<int>(fixed_joints.size()); }
  int count_encoders_between_bodies() const { return static_cast<int>(body_encoders.size()); }
  int sensor_count() const { return static_cast<int>(sensors.size()); }
  int contact_count() const { return static_cast<int>(contacts.size()); }

  int index(int body, BodyParameter quantity) const {
    return body * kBodyParameters + static_cast<int>(quantity);
  }
  int joint_parameter_index(int joint, JointParameter quantity) const {
    return body_count() * kBodyParameters + joint * kJointParameters + static_cast<int>(quantity);
  }
  int fixed_joint_parameter_index(int weld, JointParameter point) const {
    return body_count() * kBodyParameters + joint_count() * kJointParameters +
           weld * kFixedJointParameters + static_cast<int>(point);
  }
  int index(GravityParameter quantity) const {
    return fixed_joint_parameter_index(fixed_joint_count(), JointParameter::kPointAx) +
           static_cast<int>(quantity);
  }
  int body_encoder_parameter_index(int encoder, EncoderParameter quantity) const {
    return index(GravityParameter::kCount) + encoder * kEncoderParameters +
           static_cast<int>(quantity);
  }
  int sensor_parameter_index(int sensor, SensorParameter quantity) const {
    return body_encoder_parameter_index(count_encoders_between_bodies(), {}) +
           sensor * kSensorParameters + static_cast<int>(quantity);
  }
  int air_drag_parameter_index(int body, AirDragParameter quantity) const {
    return sensor_parameter_index(sensor_count(), {}) + body * kAirDragParameters +
           static_cast<int>(quantity);
  }
  int contact_parameter_index(int contact, ContactParameter quantity) const {
    return air_drag_parameter_index(body_count(), {}) + contact * kContactParameters +
           static_cast<int>(quantity);
  }

  Parameter& at(int index) { return parameters[index]; }
  const Parameter& at(int index) const { return parameters[index]; }
  Parameter& parameter(int body, BodyParameter q) { return at(index(body, q)); }
  const Parameter& parameter(int body, BodyParameter q) const { return at(index(body, q)); }
  Parameter& joint_parameter(int j, JointParameter q) { return at(joint_parameter_index(j, q)); }
  const Parameter& joint_parameter(int j, JointParameter q) const {
    return at(joint_parameter_index(j, q));
  }
  Parameter& fixed_joint_parameter(int weld, JointParameter point) {
    return at(fixed_joint_parameter_index(weld, point));
  }
  Parameter& sensor_parameter(int sensor, SensorParameter q) {
    return at(sensor_parameter_index(sensor, q));
  }
  Parameter& parameter(GravityParameter q) { return at(index(q)); }
  const Parameter& parameter(GravityParameter q) const { return at(index(q)); }

  /// Returns the index of the parameter with that name, or −1.
  int find_parameter(std::string_view parameter_name) const;
};

/// Returns the coordinates of all joints at which no joint displaces its child from its parent: 0,
/// and the identity for quaternions [rad or m].
Eigen::VectorXd neutral_coordinates(const Mechanism& mechanism);

/// Returns the joints that have a motor, in the order of the controls.
std::vector<int> joints_with_motor(const Mechanism& mechanism);

/// Gives a joint a motor whose control is the acceleration of the joint (Motor::is_prescribed). The
/// joint needs an encoder, and friction at it has no effect.
void prescribe_motion(Mechanism& mechanism, int joint);

/// Returns the coupling of a mimic joint; nullptr for any other joint.
const MimicJoint* find_mimic_joint(const Mechanism& mechanism, int joint);

/// Returns the values of all parameters, in their order [SI units].
std::vector<double> parameter_values(const Mechanism& mechanism);

/// Fills `mechanism.parameters` for its bodies and joints. Sets names ("A.J_zz", "1.b",
/// "gravity.tilt_x"), units by joint kind, neutral values (mass 1 kg, inertia 1 kg·m², the rest 0,
/// gravity 9.82 m/s²) and physical bounds (masses, inertias, friction ≥ 0). No parameter is free.
void make_parameters(Mechanism& mechanism);

/// Returns the unit of a joint's parameter. A control has the unit "unit".
std::string_view joint_parameter_unit(JointKind kind, JointParameter quantity);

/// Returns the physical quantity that a sensor's instrument measures, for example a force instead
/// of a moment if the sensor is mounted at a prismatic joint.
const MeasuredQuantityTraits& measured_quantity(const Mechanism& mechanism, const Sensor& sensor,
                                                const Instrument& instrument);

/// Returns whether air drag acts on a body, or may act after estimation.
bool has_air_drag(const Mechanism& mechanism, int body);

/// Returns whether a parameter is not zero, or may not be after estimation.
bool has_effect(const Mechanism& mechanism, int index);

/// Returns whether the ground vibrates, or may do so after estimation.
bool has_vibration(const Mechanism& mechanism);

/// Returns whether the equations of motion depend on the time since the start of the recording.
bool depends_on_time(const Mechanism& mechanism);

/// Checks that the SPOOK stepper supports the mechanism.
/// @throws std::invalid_argument "joint '…': …" for a prismatic or fixed joint, or for an element
/// that only the equations of motion in joint coordinates support
void require_spook_support(const Mechanism& mechanism);

/// Copies the parameter values of `from` to `to`, a mechanism with the same structure.
void copy_parameter_values(const Mechanism& from, Mechanism& to);

enum class InertiaCheck { kAll, kFixed };

/// Returns the errors of the mechanism; empty if it is valid. The first argument of an error, if
/// any, is the name of the body, joint, sensor or parameter. Checks names, body indices, frames
/// (rotations), masses, inertias (positive definite, triangle inequality), bounds, compliances, and
/// that every body is connected to the ground.
///
/// @param inertias  kFixed also accepts estimated inertias that violate the triangle inequality,
/// since an initial value may be far off in a single moment
std::vector<Message> find_mechanism_errors(const Mechanism& mechanism,
                                           InertiaCheck inertias = InertiaCheck::kAll);

}  // namespace estimator

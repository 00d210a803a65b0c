#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "firmware_iface/wire/limits.h"

namespace firmware_iface::sim {

/// A vector in world coordinates, y up.
using Vector3 = std::array<double, 3>;

inline Vector3 scale_vector(double s, const Vector3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline Vector3 sum(const Vector3& a, const Vector3& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Vector3 subtract_vectors(const Vector3& a, const Vector3& b) {
  return sum(a, scale_vector(-1.0, b));
}
inline double dot(const Vector3& a, const Vector3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Vector3& a) { return std::sqrt(dot(a, a)); }

/// Returns a vector rotated by a rotation vector [rad] (Rodrigues' formula).
inline Vector3 rotate_vector(const Vector3& a, const Vector3& turn) {
  const double angle = norm(turn);
  if (angle == 0.0) return a;
  const Vector3 axis = scale_vector(1.0 / angle, turn);
  return sum(sum(scale_vector(std::cos(angle), a), scale_vector(std::sin(angle), cross(axis, a))),
             scale_vector((1.0 - std::cos(angle)) * dot(axis, a), axis));
}

/// Returns the gravity vector (0, −g, 0) [m/s²], rotated by a rotation vector.
inline Vector3 tilted_gravity(double g, const Vector3& tilt) {
  return rotate_vector({0.0, -g, 0.0}, tilt);
}

inline constexpr int kJointsMax = ENCODERS_MAX;
using JointArray = std::array<double, kJointsMax>;

/// Commands of the motors [their units]; entries beyond the motor count are 0.
using MotorArray = std::array<double, MOTORS_MAX>;

/// Angles [rad] and speeds [rad/s] of all joints; entries beyond the joint count are 0.
struct JointState {
  JointArray angle_rad{};
  JointArray speed_rad_s{};
};

/// Friction of one joint. The dry friction torque is at most
///
///   τ_c + r_μ N + (τ_s − τ_c) exp(−ζ ω²),
///
/// with N the force in the bearing [N] and ω the speed of the joint [rad/s]. Viscous torque b ω and
/// air drag c |ω| ω are added.
struct JointFriction {
  double viscous = 0.0;          ///< b [N·m·s/rad], ≥ 0
  double quadratic_drag = 0.0;   ///< c [N·m·s²/rad²], ≥ 0
  double coulomb = 0.0;          ///< τ_c [N·m], ≥ 0
  double stribeck_excess = 0.0;  ///< τ_s − τ_c [N·m], ≥ 0
  double stribeck_rate = 0.0;    ///< ζ [s²/rad²], ≥ 0
  double load_arm = 0.0;         ///< r_μ: dry torque per newton of bearing force [m], ≥ 0

  /// Returns the largest dry friction torque at the speed ω under the bearing force N [N·m].
  double dry_torque_limit(double omega, double load) const {
    return coulomb + load_arm * load + stribeck_excess * std::exp(-stribeck_rate * omega * omega);
  }

  /// Returns the viscous friction and air drag of the joint at the speed ω [N·m].
  double smooth_torque(double omega) const {
    return -viscous * omega - quadratic_drag * std::abs(omega) * omega;
  }

  bool has_dry_friction() const { return coulomb > 0.0 || load_arm > 0.0 || stribeck_excess > 0.0; }
};

/// End stops of a joint; infinite: no stop.
struct JointStops {
  double lower_rad = -std::numeric_limits<double>::infinity();
  double upper_rad = std::numeric_limits<double>::infinity();
  double restitution = 0.0;  ///< speed after / speed before a stop, 0 to 1
};

/// Motion of a body, in world coordinates.
struct BodyMotion {
  std::array<Vector3, 3> axes{};   ///< the body's x, y and z axes, see the model's parameters
  Vector3 angular_velocity{};      ///< [rad/s]
  Vector3 angular_acceleration{};  ///< [rad/s²]
  Vector3 specific_force{};        ///< acceleration of its centre of mass minus gravity [m/s²]
};

/// The simulated rig at a simulated unit. Its joint k is the joint that encoder k reads; the angles
/// of a sliding joint are positions [m].
class UnitPlant {
 public:
  virtual ~UnitPlant() = default;

  virtual int joint_count() const = 0;
  virtual const JointState& state() const = 0;

  /// Returns the angle that the encoder of a joint reads. It can lag behind the angle of the joint.
  virtual double encoder_angle(int joint) const {
    return state().angle_rad[static_cast<std::size_t>(joint)];
  }

  /// Advances the simulation by dt_s ≥ 0 with constant commands. A rig that is held by hand does
  /// not move.
  virtual void advance(double dt_s, const MotorArray& command) noexcept = 0;

  /// Returns the present motion of the body at a joint, with the accelerations that the commands
  /// cause.
  virtual BodyMotion compute_body_motion(int joint, const MotorArray& command) const = 0;

  /// Holds all joints at rest, like a hand, or releases all joints.
  virtual void set_held_by_hand(bool held) = 0;
  virtual bool is_held_by_hand() const = 0;

  /// Sets the angle of a joint, and its speed to zero.
  virtual void set_joint_angle(int joint, double angle_rad) = 0;

  virtual void restore_initial_state() = 0;
};

/// Equations of motion of a rig with one or two joints and one motor: M q̈ = Q + τ, with joint
/// angles q, mass matrix M, dry friction torques τ and all other torques Q.
class RigModel {
 public:
  struct EquationTerms {
    std::array<std::array<double, 2>, 2> mass_matrix{};  ///< M [kg·m²]
    JointArray force{};  ///< Q: gravity, motor, viscous and air drag, minus Coriolis [N·m]
  };

  RigModel() = default;
  RigModel(const RigModel&) = delete;
  RigModel& operator=(const RigModel&) = delete;
  virtual ~RigModel() = default;

  virtual int joint_count() const = 0;
  virtual EquationTerms terms(const JointState& state, double command_V) const = 0;

  /// Returns the magnitude of the force in the bearing of each joint [N], for given joint
  /// accelerations [rad/s²].
  virtual JointArray bearing_forces(const JointState& state,
                                    const JointArray& acceleration) const = 0;

  /// Returns the motion of the body at a joint, for given joint accelerations [rad/s²].
  virtual BodyMotion compute_body_motion(int joint, const JointState& state,
                                         const JointArray& acceleration) const = 0;

  virtual const JointFriction& friction(int joint) const = 0;
  virtual const JointStops& stops(int /*joint*/) const {
    static constexpr JointStops kNone;
    return kNone;
  }

  /// Returns the kinetic plus potential energy [J].
  virtual double energy(const JointState& state) const = 0;
};

/// Simulates a rig with exact dry friction and end stops. Integrates by fourth-order Runge–Kutta
/// between events, at which a joint comes to rest or hits an end stop. The friction of a moving
/// joint opposes the motion. A resting joint remains at rest while its holding torque is within the
/// static limit, or presses the joint against a stop. A joint that hits a stop rebounds at once, by
/// an impulse along that joint alone; very short rebounds end at rest.
class Plant final : public UnitPlant {
 public:
  Plant(std::unique_ptr<RigModel> model, const JointState& start);

  const RigModel& model() const { return *model_; }
  void advance(double dt_s, double command_V);
  BodyMotion compute_body_motion(int joint, double command_V) const;

  int joint_count() const override { return model_->joint_count(); }
  const JointState& state() const override { return state_; }
  void advance(double dt_s, const MotorArray& command) noexcept override {
    advance(dt_s, command[0]);
  }
  BodyMotion compute_body_motion(int joint, const MotorArray& command) const override {
    return compute_body_motion(joint, command[0]);
  }
  void set_held_by_hand(bool held) override;
  bool is_held_by_hand() const override { return held_; }
  void set_joint_angle(int joint, double angle_rad) override;
  void restore_initial_state() override { state_ = start_; }

 private:
  enum class MotionDirection { kRest, kForward, kBackward };
  using Motions = std::array<MotionDirection, kJointsMax>;

  void advance_substep(double h, double command_V);
  Motions find_slip_states(double command_V) const;
  void solve(const JointState& state, const Motions& motions, double command_V,
             JointArray& acceleration, JointArray& friction_torque) const;
  JointState integrate_runge_kutta(const JointState& state, const Motions& motions,
                                   double command_V, double h) const;
  double find_event_time(const Motions& motions, double command_V, double h, int& joint) const;
  bool is_beyond_stop(const JointState& state, std::size_t joint) const;
  bool is_held_by_stop(std::size_t joint, double torque) const;
  void apply_event(std::size_t joint, double command_V);

  std::unique_ptr<RigModel> model_;
  JointState start_;
  JointState state_;
  bool held_ = false;
};

}  // namespace firmware_iface::sim

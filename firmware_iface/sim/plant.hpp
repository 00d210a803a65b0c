#pragma once

#include <array>
#include <limits>
#include <memory>

#include "firmware_iface/sim/friction.hpp"
#include "firmware_iface/sim/vector3.hpp"

namespace firmware_iface::sim {

inline constexpr int kJointsMax = 2;
using JointArray = std::array<double, kJointsMax>;

/// Angles [rad] and speeds [rad/s]; entries beyond the joint count are 0.
struct JointState {
  JointArray angle_rad{};
  JointArray speed_rad_s{};
};

/// End stops of a joint; infinite: none.
struct JointStops {
  double lower_rad = -std::numeric_limits<double>::infinity();
  double upper_rad = std::numeric_limits<double>::infinity();
  double restitution = 0.0;  ///< of its speed, a joint leaves a stop with this share, 0 to 1
};

/// How a body moves, in world coordinates.
struct BodyMotion {
  std::array<Vector3, 3> axes{};   ///< its x, y and z: see the model's parameters
  Vector3 angular_velocity{};      ///< [rad/s]
  Vector3 angular_acceleration{};  ///< [rad/s²]
  Vector3 specific_force{};        ///< acceleration of its centre of mass, less gravity [m/s²]
};

/// Equations of motion in minimal coordinates, M q̈ = Q + τ, with τ the dry friction torques.
class HingeModel {
 public:
  struct Terms {
    std::array<JointArray, kJointsMax> mass_matrix{};  ///< M [kg·m²]
    JointArray force{};  ///< Q: gravity, motor, viscous and air drag, minus Coriolis [N·m]
  };

  HingeModel() = default;
  HingeModel(const HingeModel&) = delete;
  HingeModel& operator=(const HingeModel&) = delete;
  virtual ~HingeModel() = default;

  virtual int joint_count() const = 0;
  virtual Terms terms(const JointState& state, double command_V) const = 0;

  /// Magnitude of the force in each bearing [N], given the accelerations [rad/s²].
  virtual JointArray bearing_loads(const JointState& state,
                                   const JointArray& acceleration) const = 0;

  /// Of the body behind the joint, given the accelerations [rad/s²].
  virtual BodyMotion body_motion(int joint, const JointState& state,
                                 const JointArray& acceleration) const = 0;

  virtual const JointFriction& friction(int joint) const = 0;
  virtual const JointStops& stops(int /*joint*/) const {
    static constexpr JointStops kNone;
    return kNone;
  }

  /// Kinetic plus potential energy [J].
  virtual double energy(const JointState& state) const = 0;
};

/// A rig that moves: fourth-order Runge–Kutta between the events at which a joint comes to rest or
/// strikes a stop. Dry friction is exact: while a joint slides its torque opposes the motion; a
/// joint that comes to rest stays there for as long as the torque it takes to hold it is within the
/// static limit, or presses it against a stop. What strikes a stop rebounds at once, by an impulse
/// along that joint alone; rebounds too short for any reading end at rest.
class Plant {
 public:
  Plant(std::unique_ptr<HingeModel> model, const JointState& start);

  int joint_count() const { return model_->joint_count(); }
  const JointState& state() const { return state_; }
  const HingeModel& model() const { return *model_; }

  /// Moves on by dt_s ≥ 0 with a constant command. Does nothing while held.
  void advance(double dt_s, double command_V);

  /// How the body behind a joint moves from now on, under a command.
  BodyMotion body_motion(int joint, double command_V) const;

  /// A hand holds all joints where they are, at rest; letting go starts them from there.
  void set_held(bool held);
  bool is_held() const { return held_; }

  /// Puts a joint at an angle, at rest.
  void place(int joint, double angle_rad);

  /// Puts the joints where they were at the start.
  void return_to_start() { state_ = start_; }

 private:
  enum class Motion { kRest, kForward, kBackward };
  using Motions = std::array<Motion, kJointsMax>;

  void advance_substep(double h, double command_V);
  Motions find_motions(double command_V) const;
  void solve(const JointState& state, const Motions& motions, double command_V,
             JointArray& acceleration, JointArray& friction_torque) const;
  JointState runge_kutta(const JointState& state, const Motions& motions, double command_V,
                         double h) const;
  double time_of_event(const Motions& motions, double command_V, double h, int& joint) const;
  bool is_beyond(const JointState& state, std::size_t joint) const;
  bool is_held_by_stop(std::size_t joint, double torque) const;
  void meet_event(std::size_t joint, double command_V);

  std::unique_ptr<HingeModel> model_;
  JointState start_;
  JointState state_;
  bool held_ = false;
};

}  // namespace firmware_iface::sim

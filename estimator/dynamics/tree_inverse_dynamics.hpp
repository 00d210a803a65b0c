#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "estimator/math/dual.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/symbolic/expression.hpp"

namespace estimator {

/// Returns the vector of three consecutive parameters, of which the first has this index.
template <typename T>
Eigen::Matrix<T, 3, 1> parameter_vector(const std::vector<T>& parameters, int index) {
  return {parameters[index], parameters[index + 1], parameters[index + 2]};
}

/// Largest number of joints of a TreeInverseDynamics of numbers, whose vectors are allocated on the
/// stack. With expressions, which are recorded once, there is no such limit.
inline constexpr int kTreeJointsMax = 64;

/// Identifies one component of the load at a joint: a torque along the joint, or a component of the
/// transmitted moment or force.
enum class JointLoad : int {
  kTorque,       ///< total torque along the joint, including motor and friction [N·m]
  kMotorTorque,  ///< torque K (u − k_e ω) of the motor [N·m]
  /// Part of kTorque due to friction, end stops and unmodelled effects [N·m]
  kFriction,
  kMomentX,  ///< moment transmitted to body b about the joint's point, body frame [N·m]
  kMomentY,
  kMomentZ,
  kForceX,  ///< force transmitted to body b, body frame [N]
  kForceY,
  kForceZ,
  kCount
};

/// A vector with one element per joint.
template <typename T>
using JointVector =
    Eigen::Matrix<T, Eigen::Dynamic, 1, 0,
                  std::is_same_v<T, Expression> ? Eigen::Dynamic : kTreeJointsMax, 1>;

/// Inverse dynamics of a mechanism in joint coordinates and continuous time, by the recursive
/// Newton–Euler algorithm [Fea08, sec. 5.3]. The scalar type T is double, Dual (derivatives with
/// respect to any parameter, angle or rate) or Expression (recording).
///
/// A link is a body with all bodies fixed to it. The link frame has its origin at the parent
/// joint's point and x along that joint's axis. Reactions are computed at every joint, so that
/// load-dependent friction needs no further computation.
///
/// A joint outside the spanning tree closes a loop: it carries a massless copy of its child body.
/// The caller must make copy and body coincide (`closure_violations`), and add the loop reactions,
/// which bearing loads computed here exclude.
///
/// A spherical or free joint carries one link, whose rotation on its mount is that of the
/// quaternion r/|r| (Joint). The torque imbalance of the four components of r is the joint's
/// moment, projected by the derivative of the angular velocity with respect to dr/dt, plus g r
/// times
///
///   r·r̈ + ṙ·ṙ + 2 k r·ṙ + k² (|r|² − 1)/2,
///
/// the equation of motion of |r|²/2. The projections of moments are orthogonal to r, so this sum
/// is zero in any motion and |r| approaches 1 with the time constant 1/k.
///
/// Units are those of a revolute joint; for a prismatic joint read m for rad and N for N·m.
template <typename T>
class TreeInverseDynamics {
 public:
  using Vector3 = Eigen::Matrix<T, 3, 1>;
  using Matrix3 = Eigen::Matrix<T, 3, 3>;
  using VectorX = JointVector<T>;

  /// @param parameters  one value per parameter of the mechanism, in its order
  TreeInverseDynamics(const Mechanism& mechanism, const std::vector<T>& parameters);

  int joint_count() const { return static_cast<int>(axes_.size()); }

  /// Computes the torque imbalance of each joint [N·m]: inertial, gravity and rotor torques, minus
  /// motor, viscous friction, drag, spring and constant torques. If the motion obeys the equations
  /// of motion, the imbalance is the dry friction torque.
  ///
  /// If the motion of a joint is prescribed (Motor::is_prescribed), the links move with the control
  /// as the acceleration of the joint (hybrid dynamics [Fea08, ch. 9]). The imbalance of the joint
  /// is the rotor inertia times the difference between the given acceleration and the control. The
  /// mass matrix then couples no other joint with this joint.
  ///
  /// @param angle, rate, acceleration  one per joint [rad, rad/s, rad/s²]
  /// @param control  one per joint, zero if it has no motor
  /// @param[out] residual  one per joint [N·m]
  void torque_residual(const VectorX& angle, const VectorX& rate, const VectorX& acceleration,
                       const VectorX& control, VectorX& residual);

  /// Sets the time since the start of the recording for later calls [s]; initially 0.
  void set_time(const T& time);

  /// Computes the violations of the loop-closure equations. Each joint that closes a loop has six:
  /// the distance vector between the two positions of its point [m, world frame], and ½ vee(E − Eᵀ)
  /// of the relative rotation E [rad if small]. The violations of the mimic joints come last [rad
  /// or m].
  void closure_violations(const VectorX& angle, std::vector<T>& violation) const;

  /// Computes the positions of the points of all contacts with the ground, in their order [m, world
  /// frame].
  void contact_positions(const VectorX& angle, std::vector<T>& positions) const;

  /// Returns the loads of a joint in the motion of the last `torque_residual` call, in the order of
  /// JointLoad, without reactions of loop closures.
  std::array<T, static_cast<std::size_t>(JointLoad::kCount)> joint_loads(int joint) const;

  /// Sets an external wrench on a joint's body b for later `torque_residual` calls. It is a moment
  /// about the joint's point on body b [N·m] and a force [N], in the body frame.
  void set_external_wrench(int joint, const Vector3& moment, const Vector3& force);

  /// Returns the angular acceleration of a joint's body b [rad/s²] and the acceleration of the
  /// joint point minus gravity [m/s²], in the body frame, for the motion of the last
  /// `torque_residual` call.
  std::array<T, 6> body_accelerations(int joint) const;

  /// Returns a sensor's readings without delay in the motion of the last `torque_residual` call, in
  /// the order of its axes [rad/s, m/s²].
  std::array<T, Sensor::kAxes> sensor_readings(int sensor) const;

  /// Returns the bound of a joint's dry friction torque at a joint rate [N·m]. It includes the part
  /// due to the bearing load of the last `torque_residual` call.
  T dry_friction_bound(int joint, const T& rate) const;

  /// Returns smoothed friction relative to its bound, tanh(ω/transition_speed) at the joint rate ω.
  /// The joint's transition_speed must be positive.
  T smoothed_friction_fraction(int joint, const T& rate) const;

  /// Returns the derivative of a joint's continuous friction torque with respect to the joint rate,
  /// at rest [N·m·s/rad].
  T friction_slope_at_rest(int joint) const;

  /// Returns whether the dry friction of any joint depends on its load.
  bool has_load_dependent_friction() const { return load_dependent_; }

 private:
  struct Link {
    int joint;              // the first coordinate of a spherical or free joint
    int parent;             // index into links_, −1: ground
    Joint::Type type;
    double norm_inertia;    // g, for spherical and free joints
    bool slides;            // translation along the axis instead of rotation about it
    bool wraps;             // full turns have no effect
    double sign;            // +1 if the link's body is the joint's body b
    Eigen::Matrix3d frame;  // joint frame → its body b, as a rotation
    Eigen::Matrix3d mount;  // parent's link frame → joint frame on the parent, as a rotation
    Vector3 from_parent;    // parent's origin to the joint's point, parent's link frame [m]
    Vector3 center = Vector3::Zero();  // origin to centre of mass, link frame [m]
    T mass = T(0.0);
    Matrix3 inertia = Matrix3::Zero();      // about the centre of mass, link frame
    Vector3 push_moment = Vector3::Zero();  // external, about the origin, link frame [N·m]
    Vector3 push_force = Vector3::Zero();   // [N]

    bool is_compound() const { return type != Joint::Type::kSingle; }
    /// Index of the first component of the quaternion of a compound joint.
    int quaternion() const { return joint + (type == Joint::Type::kFree ? 3 : 0); }
  };
  /// Air drag of a body, which acts on the body's link.
  struct LinkAirDrag {
    T coefficient;
    Vector3 point;  // point of application from the link's origin, link frame [m]
    std::size_t link;
  };
  /// Pose of a body relative to the link to which it belongs. Link −1 is the ground.
  struct BodyPlacement {
    int link = -1;
    Eigen::Matrix3d frame = Eigen::Matrix3d::Identity();  // link → body, as a rotation
    Vector3 point = Vector3::Constant(T(0.0));            // the link's origin, body frame [m]
  };
  /// A body and its copy at a joint that closes a loop, with the joint point that must coincide on
  /// the two, body frame [m].
  struct LoopClosingBody {
    BodyPlacement one, other;
    Vector3 point;
  };
  /// A point of a contact with the ground, on a link.
  struct ContactPoint {
    int link;       // index into links_, −1: ground
    Vector3 point;  // from the link's origin, link frame [m]
  };
  /// Pose of a link's frame in the world.
  struct LinkPose {
    Vector3 origin = Vector3::Constant(T(0.0));
    Matrix3 rotation = Matrix3(Eigen::Matrix3d::Identity().template cast<T>());
  };
  /// Velocities and accelerations of one link at one instant, in the link frame.
  struct LinkMotion {
    T cosine, sine;       // of the rotation of the link on its mount
    Matrix3 rotation;     // of the link on its mount, for spherical and free joints
    Vector3 from_parent;  // parent's origin to this one, parent's link frame [m]
    Vector3 omega, alpha;
    Vector3 velocity;       // of the origin, only for bodies with drag
    Vector3 acceleration;   // of the origin, minus gravity
    Vector3 force, moment;  // transmitted by the joint to this link; moment about the origin
  };
  struct JointAxis {
    FrictionLaws::LawParameterValues<T> friction;
    std::array<bool, FrictionLaws::kCount> acts = {};  // whether each law acts
    T constant_torque, stiffness, rest_angle, play;
    bool has_play;
    T motor_gain, shaft_inertia, back_emf;
    double gear_ratio;          // 0: no rotor on body a
    T load_force, load_moment;  // magnitudes of the reaction, for load-dependent friction
    T torque, motor_torque;     // along the joint: total, and of the motor
    T passive_torque;           // of spring and constant torque
    T gain_drift, gain_sag, friction_drift, cogging_sine, cogging_cosine;
    double cogging_order;
    bool has_drifting_friction, has_variable_gain, has_cogging;
    double transition_speed;    // 0: friction sticks at rest
    bool is_prescribed;         // the control is the acceleration
  };

  /// A sensor on a link; link −1 is the ground. If the sensor's axes are fixed to the ground,
  /// `frame` is the rotation from the ground to the sensor axes.
  struct MountedSensor {
    int link;
    Eigen::Matrix3d frame;  // link → sensor axes before `mount`, as a rotation
    Vector3 point;          // from the link's origin, link frame [m]
    Vector3 mount;
    Vector3 bias[2], scale[2];  // of the gyroscope, of the accelerometer
    Matrix3 cross[2];           // cross-axis sensitivities, per the axis' scale
    Sensor::Kind kind;
    bool has_orientation;
    int joint;
  };

  void add_link(const Mechanism& mechanism, const std::vector<T>& parameters,
                const DirectedJoint& edge);
  void add_closing_links(const Mechanism& mechanism, const std::vector<T>& parameters);
  std::vector<LinkPose> link_poses(const VectorX& angle) const;
  void add_body_to_link(const Mechanism& mechanism, const std::vector<T>& parameters, int body,
                        bool first);
  struct Quaternion;
  static Vector3 compound_translation(const Link& link, const VectorX& coordinates);
  static LinkPose compound_pose(const Link& link, const LinkPose& parent, const VectorX& angle);
  void compute_compound_motion(std::size_t at, const VectorX& angle, const VectorX& rate,
                               const VectorX& acceleration);
  void project_compound_load(std::size_t at, const VectorX& angle, const VectorX& rate,
                             const VectorX& acceleration, VectorX& residual);
  void add_inertial_loads(const Link& link, LinkMotion& motion) const;
  BodyPlacement& body_placement(int body) { return placements_[body + 1]; }
  void make_links(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_joint_axes(const Mechanism& mechanism, const std::vector<T>& parameters);
  void set_gravity(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_sensors(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_air_drags(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_contact_points(const Mechanism& mechanism, const std::vector<T>& parameters);
  void move_link_origin(std::size_t at, const VectorX& rate);
  void add_air_drag(const LinkAirDrag& drag);
  void update_bearing_load(const Link& link, const LinkMotion& motion, JointAxis& axis) const;
  Vector3 sensor_position(const MountedSensor& sensor) const;
  static Vector3 rotate_into_link(const Link& link, const LinkMotion& motion,
                                  const Vector3& of_parent);
  static Vector3 rotate_into_parent(const Link& link, const LinkMotion& motion,
                                    const Vector3& of_link);
  void compute_link_motion(std::size_t at, const T& shift, const T& speed, const T& acceleration);
  T friction_factor(const JointAxis& axis) const;
  T applied_control(const JointAxis& axis, const T& control) const;
  T joint_torque_imbalance(const Link& link, const T& angle, const T& rate, const T& acceleration,
                           const T& control, const T& of_links);
  std::array<Vector3, 2> joint_reaction(std::size_t at) const;
  std::size_t child_link(int joint) const;
  std::array<Vector3, 2> ideal_readings(const MountedSensor& sensor) const;
  T add_rotor_torque(const Link& link, const T& rate, const T& acceleration, LinkMotion& motion);

  std::vector<BodyPlacement> placements_;  // of the ground and of every body
  std::vector<Link> links_;                // parents first
  std::vector<LoopClosingBody> closures_;
  std::vector<MimicJoint> mimic_joints_;
  std::vector<LinkMotion> motions_;
  std::vector<JointAxis> axes_;  // by joint
  std::vector<MountedSensor> sensors_;
  std::vector<LinkAirDrag> drags_;
  std::vector<ContactPoint> contact_points_;
  T time_ = T(0.0);  // since the start of the recording [s]
  Vector3 gravity_;  // world frame [m/s²]
  Vector3 up_;       // acceleration of the ground minus gravity, world frame [m/s²]
  /// Frequency of the ground's vibration [Hz], and the amplitudes of its acceleration [m/s²].
  T vibration_frequency_ = T(0.0);
  Vector3 vibration_sine_ = Vector3::Constant(T(0.0)), vibration_cosine_ = vibration_sine_;
  std::vector<std::size_t> link_of_joint_;
  bool load_dependent_ = false;
};

extern template class TreeInverseDynamics<double>;
extern template class TreeInverseDynamics<Dual>;
extern template class TreeInverseDynamics<Expression>;

/// Returns the joint-space mass matrix of a mechanism whose closed loops are cut. Column k contains
/// the joint torques for a unit acceleration of joint k alone [Fea08, sec. 6.2]. As a side effect,
/// `dynamics` then contains the bearing loads at rest.
///
/// @param coordinates  one per joint [rad or m]
inline Eigen::MatrixXd mass_matrix(TreeInverseDynamics<double>& dynamics,
                                   const Eigen::VectorXd& coordinates) {
  const Eigen::Index n = dynamics.joint_count();
  const JointVector<double> angle = coordinates, zero = JointVector<double>::Zero(n);
  JointVector<double> rest, column, unit = zero;
  Eigen::MatrixXd mass(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    unit[k] = 1.0;
    dynamics.torque_residual(angle, zero, unit, zero, column);
    mass.col(k) = column;
    unit[k] = 0.0;
  }
  dynamics.torque_residual(angle, zero, zero, zero, rest);
  return mass.colwise() - Eigen::VectorXd(rest);
}

/// Replaces the values of dependent parameters by expressions in the independent parameters.
inline void substitute_dependent_parameters(const Mechanism& mechanism,
                                            std::vector<Expression>& values) {
  for (const ParameterDependency& tie : mechanism.dependencies) {
    Expression value(tie.constant);
    for (const DependencyTerm& term : tie.terms) {
      value += Expression(term.factor) * values[term.parameter];
    }
    values[tie.parameter] = value;
  }
}

}  // namespace estimator

#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "estimator/math/dual.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/symbolic/expression.hpp"

namespace estimator {

/// Most hinges of a mechanism in joint coordinates: vectors over them live on the stack. Of
/// expressions, which are recorded once, there may be any number.
inline constexpr int kTreeHingesMax = 16;

/// What is known of the load of one joint, by the motion.
enum class JointLoad : int {
  kTorque,       ///< all that acts along the joint, motor to friction [N·m]
  kMotorTorque,  ///< K (u − k_e ω) [N·m]
  /// What of kTorque neither motor nor spring nor constant torque makes: friction, what an end stop
  /// pushes with, and what the motion has beyond the model [N·m]
  kFriction,
  kMomentX,  ///< that the joint passes on to its body b about its point there, body frame [N·m]
  kMomentY,
  kMomentZ,
  kForceX,  ///< the same of the force [N]
  kForceY,
  kForceZ,
  kCount
};

/// One value a hinge.
template <typename T>
using JointVector =
    Eigen::Matrix<T, Eigen::Dynamic, 1, 0,
                  std::is_same_v<T, Expression> ? Eigen::Dynamic : kTreeHingesMax, 1>;

/// Continuous-time inverse dynamics of a mechanism in joint coordinates: recursive Newton–Euler
/// [Fea08, sec. 5.3]. Scalars T are double or Dual; with Dual, derivatives along any
/// parameter, angle or rate come with the values.
///
/// Each link carries a frame: origin at its body's point of the joint that holds it, x along the
/// joint's axis, moving with the body. Bodies that a fixed joint holds together are one link.
/// Reactions are known at every joint, so load-dependent friction needs nothing more.
///
/// A joint that closes a loop, beyond the spanning tree, leads to a copy without mass of the body
/// that is there already; that both are at one place is left to be demanded (`closures`), and the
/// reactions that see to it to be added. Their part of the load of bearings is not known here.
///
/// Units are those of a hinge; of a joint that slides read m for rad and N for N·m.
template <typename T>
class TreeInverseDynamics {
 public:
  using Vector3 = Eigen::Matrix<T, 3, 1>;
  using Matrix3 = Eigen::Matrix<T, 3, 3>;
  using VectorX = JointVector<T>;

  /// @param parameters one value a parameter of the mechanism, in its order
  TreeInverseDynamics(const Mechanism& mechanism, const std::vector<T>& parameters);

  int hinge_count() const { return static_cast<int>(links_.size()); }

  /// What the motion demands beyond what acts, dry friction left out: inertial and gravity torques
  /// plus shaft inertia, less motor, viscous friction, drag at joints and of bodies in the air,
  /// spring and constant torque. [N·m]
  /// Equals the dry friction torque where the motion obeys the equations of motion.
  ///
  /// @param angle, rate, acceleration  one a joint [rad, rad/s, rad/s²]
  /// @param control  one a hinge, zero where there is no motor
  /// @param[out] imbalance  one a hinge
  void imbalance(const VectorX& angle, const VectorX& rate, const VectorX& acceleration,
                 const VectorX& control, VectorX& imbalance);

  /// How far bodies that are reached twice are from being at one place, six a joint that closes a
  /// loop: the joint's point on its child [m, world frame], and ½ vee(E − Eᵀ) of the rotation E
  /// between both orientations [rad where small]. Behind them, how far each joint that follows
  /// another is from where that demands [rad or m].
  void closures(const VectorX& angle, std::vector<T>& violation) const;

  /// Loads of a joint in the motion of the last call of `imbalance`, in the order of JointLoad. In
  /// a mechanism with loops, what closes them is left out.
  std::array<T, static_cast<std::size_t>(JointLoad::kCount)> joint_loads(int hinge) const;

  /// Lets the surroundings push a joint's body b from the next call of `imbalance` on: a moment
  /// about the joint's point there [N·m] and a force [N], body frame.
  void push(int hinge, const Vector3& moment, const Vector3& force);

  /// How a joint's body b moves in the motion of the last call of `imbalance`: its angular
  /// acceleration [rad/s²], and the acceleration less gravity of its point of the joint [m/s²],
  /// body frame.
  std::array<T, 6> body_accelerations(int hinge) const;

  /// What a sensor reads in the motion of the last call of `imbalance`, delay left out,
  /// in the order of its axes [rad/s, m/s²].
  std::array<T, InertialSensor::kAxes> inertial_readings(int sensor) const;

  /// Largest dry friction torque of a hinge at a speed [N·m], with the part that grows with the
  /// load of the last call of `imbalance`.
  T dry_bound(int hinge, const T& rate) const;

  /// What share of that bound dry friction takes where the joint creeps, tanh(ω/creep_speed); its
  /// creep speed must be above zero.
  T creep_share(int hinge, const T& rate) const;

  /// What friction without a jump grows by from rest [N·m·s/rad].
  T smooth_steepness(int hinge) const;

  /// Whether any hinge's dry friction depends on its load.
  bool is_load_dependent() const { return load_dependent_; }

 private:
  struct Link {
    int hinge;
    int parent;             // index into links_, −1: ground
    bool slides;            // along the axis, instead of turning about it
    bool wraps;             // whole turns lead to the same place
    double sign;            // +1 where the link's body is the hinge's body b
    Eigen::Matrix3d frame;  // hinge frame → its body b, as a rotation
    Eigen::Matrix3d mount;  // parent's link frame → hinge frame on the parent, as a rotation
    Vector3 from_parent;    // parent's origin to the joint's point, parent's link frame [m]
    Vector3 center = Vector3::Zero();  // origin to centre of mass, link frame [m]
    T mass = T(0.0);
    Matrix3 inertia = Matrix3::Zero();      // about the centre of mass, link frame
    Vector3 push_moment = Vector3::Zero();  // from outside, about the origin, link frame [N·m]
    Vector3 push_force = Vector3::Zero();   // [N]
  };
  /// What holds a body back in still air, on its link.
  struct Drag {
    T coefficient;
    Vector3 point;  // where it acts, from the link's origin, link frame [m]
    std::size_t link;
  };
  /// Where a body sits on its link; the ground is a body of link −1, at its origin.
  struct Seat {
    int link = -1;
    Eigen::Matrix3d frame = Eigen::Matrix3d::Identity();  // link → body, as a rotation
    Vector3 point = Vector3::Constant(T(0.0));            // the link's origin, body frame [m]
  };
  /// A body that is reached twice, and the point of it that is compared, body frame [m].
  struct Closure {
    Seat one, other;
    Vector3 point;
  };
  /// A link's frame in the world.
  struct Place {
    Vector3 origin = Vector3::Constant(T(0.0));
    Matrix3 rotation = Matrix3(Eigen::Matrix3d::Identity().template cast<T>());
  };
  /// Of one link at one instant, in its frame.
  struct Motion {
    T cosine, sine;       // of the angle by which the link is turned on its mount
    Vector3 from_parent;  // parent's origin to this one, parent's link frame [m]
    Vector3 omega, alpha;
    Vector3 velocity;       // of the origin, where a body has drag
    Vector3 acceleration;   // of the origin, less gravity
    Vector3 force, moment;  // that the joint passes on to this link; moment about the origin
  };
  struct Axis {
    FrictionLaws::On<T> friction;
    std::array<bool, FrictionLaws::kCount> acts = {};  // the laws of them
    T constant_torque, stiffness, rest_angle;
    T motor_gain, shaft_inertia, back_emf;
    double gear_ratio;          // 0: the rotor does not turn with body a
    T load_force, load_moment;  // magnitudes of the reaction that friction grows with
    T torque, motor_torque;     // along the joint: in all, and by the motor
    T idle_torque;              // of spring and constant torque
    double creep_speed;         // 0: friction holds at rest
  };

  /// An inertial sensor on its link; link −1: the ground. Of an instrument on the ground `frame`
  /// is that of the ground → sensor axes.
  struct Inertial {
    int link;
    Eigen::Matrix3d frame;  // link → sensor axes before `mount`, as a rotation
    Vector3 point;          // from the link's origin, link frame [m]
    Vector3 mount;
    Vector3 bias[2], scale[2];  // of the gyroscope, of the accelerometer
    Matrix3 cross[2];           // what each axis reads of the others, per its scale
    InertialSensor::Kind kind;
    bool has_axes;
    int hinge;
  };

  void add_link(const Mechanism& mechanism, const std::vector<T>& parameters, const TreeEdge& edge);
  void add_closing_links(const Mechanism& mechanism, const std::vector<T>& parameters);
  std::vector<Place> places(const VectorX& angle) const;
  void add_body(const Mechanism& mechanism, const std::vector<T>& parameters, int body, bool first);
  Seat& seat_of(int body) { return seats_[static_cast<std::size_t>(body + 1)]; }
  void make_links(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_axes(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_gravity(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_inertial(const Mechanism& mechanism, const std::vector<T>& parameters);
  void make_drags(const Mechanism& mechanism, const std::vector<T>& parameters);
  void move_origin(std::size_t at, const T& speed);
  void resist(const Drag& drag);
  void feel_load(const Link& link, const Motion& motion, Axis& axis) const;
  Vector3 place_of(const Inertial& sensor) const;
  static Vector3 into_link(const Link& link, const Motion& motion, const Vector3& of_parent);
  static Vector3 into_parent(const Link& link, const Motion& motion, const Vector3& of_link);
  void move_link(std::size_t at, const T& shift, const T& speed, const T& acceleration);
  T axis_imbalance(const Link& link, const T& angle, const T& rate, const T& acceleration,
                   const T& control, const T& of_links);
  std::array<Vector3, 2> reaction(std::size_t at) const;
  std::size_t child_link(int hinge) const;
  std::array<Vector3, 2> nominal_readings(const Inertial& sensor) const;
  T add_rotor(const Link& link, const T& rate, const T& acceleration, Motion& motion);

  std::vector<Seat> seats_;  // of the ground and every body
  std::vector<Link> links_;  // parents first
  std::vector<Closure> closures_;
  std::vector<Coupling> couplings_;
  std::vector<Motion> motions_;
  std::vector<Axis> axes_;  // by hinge
  std::vector<Inertial> inertial_;
  std::vector<Drag> drags_;
  Vector3 up_;  // −gravity, world frame [m/s²]
  std::vector<std::size_t> link_of_hinge_;
  bool load_dependent_ = false;
};

extern template class TreeInverseDynamics<double>;
extern template class TreeInverseDynamics<Dual>;
extern template class TreeInverseDynamics<Expression>;

}  // namespace estimator

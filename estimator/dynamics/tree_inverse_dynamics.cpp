#include "estimator/dynamics/tree_inverse_dynamics.hpp"

#include <algorithm>
#include <cassert>

#include "estimator/dynamics/air_drag.hpp"
#include "estimator/dynamics/compound_joint.hpp"
#include "estimator/dynamics/ground_contact_points.hpp"
#include "estimator/dynamics/inertial_sensing.hpp"
#include "estimator/dynamics/joint_torques.hpp"
#include "estimator/friction/friction_laws.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/placement.hpp"

namespace estimator {
namespace {

/// Bearing loads below which friction grows quadratically, so that it has no kink at zero load.
constexpr double kSmallForce = 1e-4;   // [N], the weight of 10 mg
constexpr double kSmallMoment = 1e-5;  // [N·m]

template <typename T>
Eigen::Matrix<T, 3, 3> inertia_of(const Mechanism& mechanism, const std::vector<T>& parameters,
                                  int body) {
  const std::array<int, 6> indices = moment_of_inertia_indices(mechanism, body);
  Eigen::Matrix<T, 6, 1> moments;
  for (int k = 0; k < 6; ++k) {
    moments[k] = parameters[indices[k]];
  }
  return inertia_matrix(moments);
}

/// Returns the inertia g of a quaternion's norm: that of a body's rotation about any axis, 4 J. It
/// has no effect on the motion, and makes the mass matrix well conditioned.
double norm_inertia(const Mechanism& mechanism, int body) {
  double trace = 0.0;
  for (const BodyParameter moment :
       {BodyParameter::kJxx, BodyParameter::kJyy, BodyParameter::kJzz}) {
    trace += mechanism.parameter(body, moment).value;
  }
  return trace > 0.0 ? 4.0 / 3.0 * trace : 1.0;
}

}  // namespace

template <typename T>
TreeInverseDynamics<T>::TreeInverseDynamics(const Mechanism& mechanism,
                                            const std::vector<T>& parameters) {
  assert(parameters.size() == mechanism.parameters.size());
  make_links(mechanism, parameters);
  make_joint_axes(mechanism, parameters);
  set_gravity(mechanism, parameters);
  make_sensors(mechanism, parameters);
  make_air_drags(mechanism, parameters);
  make_contact_points(mechanism, parameters);
}

template <typename T>
void TreeInverseDynamics<T>::make_links(const Mechanism& mechanism,
                                        const std::vector<T>& parameters) {
  placements_.resize(mechanism.bodies.size() + 1);
  for (const DirectedJoint& edge : spanning_tree(mechanism)) add_link(mechanism, parameters, edge);
  add_closing_links(mechanism, parameters);
  mimic_joints_ = mechanism.mimic_joints;
  motions_.resize(links_.size());
  link_of_joint_.resize(mechanism.joints.size());
  for (std::size_t at = 0; at < links_.size(); ++at) {
    const int first = links_[at].joint;
    std::fill_n(link_of_joint_.begin() + first, mechanism.joints[first].coordinate_count(), at);
  }
}

/// Adds the joints outside the spanning tree, each with a massless copy of its child body.
template <typename T>
void TreeInverseDynamics<T>::add_closing_links(const Mechanism& mechanism,
                                               const std::vector<T>& parameters) {
  const std::vector<BodyPlacement> seats = placements_;
  for (const DirectedJoint& edge : loop_closing_joints(mechanism)) {
    const int child = edge.child.body;
    const BodyPlacement other = body_placement(child);
    const std::size_t links = links_.size();
    add_link(mechanism, parameters, edge);
    closures_.push_back(
        {body_placement(child), other, parameter_vector(parameters, edge.child.point)});
    if (links_.size() > links) {
      links_.back().mass = T(0.0);
      links_.back().center = Vector3::Constant(T(0.0));
      links_.back().inertia = Matrix3::Constant(T(0.0));
    }
    placements_ = seats;
  }
}

/// Adds the body that a joint carries: as a new link, or rigidly on the parent's link.
template <typename T>
void TreeInverseDynamics<T>::add_link(const Mechanism& mechanism, const std::vector<T>& parameters,
                                      const DirectedJoint& edge) {
  const Vector3 on_child = parameter_vector(parameters, edge.child.point);
  const BodyPlacement& parent = body_placement(edge.parent.body);
  const Vector3 offset = parameter_vector(parameters, edge.parent.point) - parent.point;
  if (edge.weld) {
    const Eigen::Matrix3d turn = edge.child.frame * edge.parent.frame.transpose();  // to the child
    const Vector3 point = on_child - turn.template cast<T>() * offset;
    body_placement(edge.child.body) = {parent.link, turn * parent.frame, point};
  } else {
    const Joint& joint = mechanism.joints[edge.joint];
    Link link;
    link.joint = edge.joint;
    link.type = joint.type;
    link.norm_inertia = norm_inertia(mechanism, edge.child.body);
    link.slides = !joint.kind_traits().turns;
    link.wraps = joint.kind_traits().wraps;
    link.sign = edge.forward ? 1.0 : -1.0;
    link.frame = joint.frame_b;
    link.parent = parent.link;
    link.mount = parent.frame.transpose() * edge.parent.frame;
    link.from_parent = parent.frame.transpose().template cast<T>() * offset;
    body_placement(edge.child.body) = {static_cast<int>(links_.size()), edge.child.frame, on_child};
    links_.push_back(link);
  }
  add_body_to_link(mechanism, parameters, edge.child.body, !edge.weld);
}

/// Adds a body's mass and inertia to its link, unless it is fixed to the ground.
template <typename T>
void TreeInverseDynamics<T>::add_body_to_link(const Mechanism& mechanism,
                                              const std::vector<T>& parameters, int body,
                                              bool first) {
  const BodyPlacement& seat = body_placement(body);
  if (seat.link < 0) return;
  Link& link = links_[seat.link];
  const Eigen::Matrix<T, 3, 3> frame = seat.frame.template cast<T>();
  const T mass = parameters[mechanism.index(body, BodyParameter::kMass)];
  const Vector3 center = -(frame.transpose() * seat.point);
  if (!first && mechanism.bodies[body].massless) return;
  const Matrix3 half = inertia_of(mechanism, parameters, body) * frame;
  const Matrix3 inertia = frame.transpose() * half;
  if (first) {
    link.mass = mass;
    link.center = center;
    link.inertia = inertia;
    return;
  }
  const T sum = link.mass + mass;
  const T share = mass / sum;
  const T reduced = link.mass * share;
  const Vector3 apart = center - link.center;
  link.inertia += inertia - reduced * (apart * apart.transpose());
  for (int i = 0; i < 3; ++i) link.inertia(i, i) += reduced * apart.dot(apart);
  link.center += share * apart;
  link.mass = sum;
}

template <typename T>
void TreeInverseDynamics<T>::set_gravity(const Mechanism& mechanism,
                                         const std::vector<T>& parameters) {
  const auto value = [&](GravityParameter quantity) {
    return parameters[mechanism.index(quantity)];
  };
  gravity_ = gravity_vector(value(GravityParameter::kGravity), value(GravityParameter::kTiltX),
                            value(GravityParameter::kTiltZ));
  up_ = -gravity_;
  if (!has_vibration(mechanism)) return;
  vibration_frequency_ = value(GravityParameter::kVibrationFrequency);
  for (int axis = 0; axis < 3; ++axis) {
    const int sine = mechanism.index(GravityParameter::kVibrationXSine) + 2 * axis;
    vibration_sine_[axis] = parameters[sine];
    vibration_cosine_[axis] = parameters[sine + 1];
  }
}

template <typename T>
void TreeInverseDynamics<T>::set_time(const T& time) {
  using std::cos;
  using std::sin;
  time_ = time;
  const T phase = T(2.0 * M_PI) * vibration_frequency_ * time;
  const T sine = sin(phase), cosine = cos(phase);
  for (int axis = 0; axis < 3; ++axis) {
    up_[axis] = vibration_sine_[axis] * sine + vibration_cosine_[axis] * cosine - gravity_[axis];
  }
}

template <typename T>
typename TreeInverseDynamics<T>::Vector3 TreeInverseDynamics<T>::rotate_into_link(
    const Link& link, const LinkMotion& motion, const Vector3& of_parent) {
  const Vector3 x = link.mount.transpose().template cast<T>() * of_parent;
  if (link.is_compound()) return motion.rotation.transpose() * x;
  return {x[0], motion.cosine * x[1] + motion.sine * x[2],
          motion.cosine * x[2] - motion.sine * x[1]};
}

template <typename T>
typename TreeInverseDynamics<T>::Vector3 TreeInverseDynamics<T>::rotate_into_parent(
    const Link& link, const LinkMotion& motion, const Vector3& of_link) {
  if (link.is_compound()) {
    const Vector3 turned = motion.rotation * of_link;
    return link.mount.template cast<T>() * turned;
  }
  const Vector3 x(of_link[0], motion.cosine * of_link[1] - motion.sine * of_link[2],
                  motion.cosine * of_link[2] + motion.sine * of_link[1]);
  return link.mount.template cast<T>() * x;
}

/// Adds the effect of a rotor in body a, and returns its torque on the joint. The rotor turns about
/// the joint axis x at ω_a·x + N ω with the joint rate ω, gear ratio N and body rate ω_a. Its mass
/// and inertia belong to body a. The kinetic energy J_shaft/N ω (ω_a·x) adds a moment on body a.
template <typename T>
T TreeInverseDynamics<T>::add_rotor_torque(const Link& link, const T& rate, const T& acceleration,
                                           LinkMotion& motion) {
  const JointAxis& axis = axes_[link.joint];
  if (axis.gear_ratio == 0.0) return T(0.0);
  const T inertia = axis.shaft_inertia * (1.0 / axis.gear_ratio);
  const T spin = inertia * rate, change = inertia * acceleration;
  // In the link's frame; its x is the axis in body a too.
  const auto moment_of = [&](const Vector3& omega) {
    return Vector3(change, spin * omega[2], -(spin * omega[1]));  // ω × e_x = (0, ω_z, −ω_y)
  };
  if (link.sign < 0.0) {
    motion.moment += moment_of(motion.omega);
    return inertia * motion.alpha[0];
  }
  if (link.parent < 0) return T(0.0);
  LinkMotion& parent = motions_[link.parent];
  const Vector3 omega = rotate_into_link(link, motion, parent.omega);
  const Vector3 alpha = rotate_into_link(link, motion, parent.alpha);
  parent.moment += rotate_into_parent(link, motion, moment_of(omega));
  return inertia * alpha[0];
}

/// Computes velocities, accelerations and inertial loads of a link from those of its parent.
template <typename T>
void TreeInverseDynamics<T>::compute_link_motion(std::size_t at, const T& shift, const T& speed,
                                                 const T& acceleration) {
  using std::cos;
  using std::sin;
  const Link& link = links_[at];
  LinkMotion& motion = motions_[at];
  motion.cosine = link.slides ? T(1.0) : T(cos(shift));
  motion.sine = link.slides ? T(0.0) : T(sin(shift));
  motion.from_parent = link.from_parent;
  if (link.slides) {
    for (int i = 0; i < 3; ++i) motion.from_parent[i] += link.mount(i, 0) * shift;
  }
  Vector3 omega = Vector3::Constant(T(0.0)), alpha = omega, base = up_;
  if (link.parent >= 0) {
    const LinkMotion& parent = motions_[link.parent];
    const Vector3 across = parent.omega.cross(motion.from_parent);
    base =
        parent.acceleration + parent.alpha.cross(motion.from_parent) + parent.omega.cross(across);
    omega = rotate_into_link(link, motion, parent.omega);
    alpha = rotate_into_link(link, motion, parent.alpha);
  }
  motion.acceleration = rotate_into_link(link, motion, base);
  if (link.slides) {
    motion.acceleration[0] += acceleration;
    motion.acceleration[1] += 2.0 * speed * omega[2];  // 2 ω × e_x ẋ = 2 ẋ (0, ω_z, −ω_y)
    motion.acceleration[2] -= 2.0 * speed * omega[1];
  } else {
    alpha[0] += acceleration;
    alpha[1] += speed * omega[2];  // ω_parent × e_x φ̇ = φ̇ (0, ω_z, −ω_y)
    alpha[2] -= speed * omega[1];
    omega[0] += speed;
  }
  motion.omega = omega;
  motion.alpha = alpha;
  add_inertial_loads(link, motion);
}

/// Computes the force and moment that accelerate a link in its motion.
template <typename T>
void TreeInverseDynamics<T>::add_inertial_loads(const Link& link, LinkMotion& motion) const {
  const Vector3& omega = motion.omega;
  const Vector3 swing = omega.cross(link.center);
  const Vector3 center = motion.acceleration + motion.alpha.cross(link.center) + omega.cross(swing);
  motion.force = link.mass * center;
  const Vector3 momentum = link.inertia * omega;
  const Vector3 change = link.inertia * motion.alpha;
  motion.moment = change + omega.cross(momentum) + link.center.cross(motion.force);
}

/// Computes the bearing loads on which friction depends: magnitudes of the forces across and along
/// the axis, and of the moment. They do not depend on the frame's rotation about the axis. The load
/// along the coordinate is excluded. A prismatic joint's moment is about the child's point.
template <typename T>
void TreeInverseDynamics<T>::update_bearing_load(const Link& link, const LinkMotion& motion,
                                                 JointAxis& axis) const {
  using std::sqrt;
  const auto magnitude = [](const T& squares, double small) {
    return T(sqrt(squares + small * small) - small);
  };
  const auto across = [](const Vector3& v) { return T(v[1] * v[1] + v[2] * v[2]); };
  const auto along = [](const Vector3& v) { return T(v[0] * v[0]); };
  axis.load_force = magnitude(across(motion.force), kSmallForce);
  if (link.slides) {
    axis.load_moment = magnitude(across(motion.moment) + along(motion.moment), kSmallMoment);
  } else {
    axis.load_force += magnitude(along(motion.force), kSmallForce);
    axis.load_moment = magnitude(across(motion.moment), kSmallMoment);
  }
}

template <typename T>
void TreeInverseDynamics<T>::torque_residual(const VectorX& angle, const VectorX& rate,
                                             const VectorX& acceleration, const VectorX& control,
                                             VectorX& residual) {
  for (std::size_t at = 0; at < links_.size(); ++at) {
    const int j = links_[at].joint;
    const double sign = links_[at].sign;
    if (links_[at].is_compound()) {
      compute_compound_motion(at, angle, rate, acceleration);
    } else {
      const T& moved = axes_[j].is_prescribed ? control[j] : acceleration[j];
      compute_link_motion(at, sign * angle[j], sign * rate[j], sign * moved);
    }
    if (!drags_.empty()) move_link_origin(at, rate);
    motions_[at].force -= links_[at].push_force;
    motions_[at].moment -= links_[at].push_moment;
  }
  for (const LinkAirDrag& drag : drags_) add_air_drag(drag);
  residual.resize(joint_count());
  for (std::size_t at = links_.size(); at-- > 0;) {
    const Link& link = links_[at];
    const LinkMotion& motion = motions_[at];
    const int j = link.joint;
    if (link.is_compound()) {
      project_compound_load(at, angle, rate, acceleration, residual);
    } else {
      const T rotor = add_rotor_torque(link, rate[j], acceleration[j], motions_[at]);
      const T of_links = link.sign * (link.slides ? motion.force[0] : motion.moment[0]) + rotor;
      residual[j] =
          joint_torque_imbalance(link, angle[j], rate[j], acceleration[j], control[j], of_links);
      if (load_dependent_) update_bearing_load(link, motion, axes_[j]);
    }
    if (link.parent < 0) continue;
    LinkMotion& parent = motions_[link.parent];
    const Vector3 force = rotate_into_parent(link, motion, motion.force);
    parent.force += force;
    parent.moment +=
        rotate_into_parent(link, motion, motion.moment) + motion.from_parent.cross(force);
  }
}

/// Returns the frames of all links in the world.
template <typename T>
std::vector<typename TreeInverseDynamics<T>::LinkPose> TreeInverseDynamics<T>::link_poses(
    const VectorX& angle) const {
  using std::cos;
  using std::sin;
  std::vector<LinkPose> result;
  for (const Link& link : links_) {
    const LinkPose parent = link.parent < 0 ? LinkPose() : result[link.parent];
    if (link.is_compound()) {
      result.push_back(compound_pose(link, parent, angle));
      continue;
    }
    const T shift = link.sign * angle[link.joint];
    const T cosine = link.slides ? T(1.0) : T(cos(shift));
    const T sine = link.slides ? T(0.0) : T(sin(shift));
    const Matrix3 mounted = parent.rotation * link.mount.template cast<T>();
    LinkPose place;
    place.origin = parent.origin + parent.rotation * link.from_parent;
    if (link.slides) place.origin += shift * mounted.col(0);
    place.rotation.col(0) = mounted.col(0);
    place.rotation.col(1) = cosine * mounted.col(1) + sine * mounted.col(2);
    place.rotation.col(2) = cosine * mounted.col(2) - sine * mounted.col(1);
    result.push_back(place);
  }
  return result;
}

template <typename T>
void TreeInverseDynamics<T>::closure_violations(const VectorX& angle,
                                                std::vector<T>& violation) const {
  violation.clear();
  const std::vector<LinkPose> at = link_poses(angle);
  for (const LoopClosingBody& closure : closures_) {
    Vector3 points[2];
    Matrix3 rotations[2];
    for (int side = 0; side < 2; ++side) {
      const BodyPlacement& seat = side == 0 ? closure.one : closure.other;
      const LinkPose place = seat.link < 0 ? LinkPose() : at[seat.link];
      rotations[side] = place.rotation * seat.frame.transpose().template cast<T>();
      const Vector3 offset = closure.point - seat.point;
      points[side] = place.origin + rotations[side] * offset;
    }
    const Matrix3 E = rotations[0].transpose() * rotations[1];
    for (int i = 0; i < 3; ++i) violation.push_back(points[0][i] - points[1][i]);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      violation.push_back(T(0.5) * (E(k, j) - E(j, k)));
    }
  }
  for (const MimicJoint& each : mimic_joints_) {
    violation.push_back(angle[each.joint] - each.ratio * angle[each.follows] - T(each.offset));
  }
}

/// Returns the link of a joint's body b, which must be farther from the ground than body a.
template <typename T>
std::size_t TreeInverseDynamics<T>::child_link(int joint) const {
  const std::size_t at = link_of_joint_[joint];
  assert(links_[at].sign > 0.0);
  return at;
}

template <typename T>
void TreeInverseDynamics<T>::set_external_wrench(int joint, const Vector3& moment,
                                                 const Vector3& force) {
  Link& link = links_[child_link(joint)];
  const Matrix3 rotate_into_link = link.frame.transpose().template cast<T>();
  link.push_moment = rotate_into_link * moment;
  link.push_force = rotate_into_link * force;
}

template <typename T>
std::array<T, 6> TreeInverseDynamics<T>::body_accelerations(int joint) const {
  const std::size_t at = child_link(joint);
  const Matrix3 frame = links_[at].frame.template cast<T>();
  const Vector3 alpha = frame * motions_[at].alpha;
  const Vector3 acceleration = frame * motions_[at].acceleration;
  return {alpha[0], alpha[1], alpha[2], acceleration[0], acceleration[1], acceleration[2]};
}

template class TreeInverseDynamics<double>;
template class TreeInverseDynamics<Dual>;
template class TreeInverseDynamics<Expression>;

}  // namespace estimator

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

#include <cassert>

namespace estimator {
namespace {

template <typename T>
using Vector3 = Eigen::Matrix<T, 3, 1>;

template <typename T>
T parameter_of(const std::vector<T>& parameters, int index) {
  return parameters[static_cast<std::size_t>(index)];
}

template <typename T>
Vector3<T> point_of(const Mechanism& mechanism, const std::vector<T>& parameters, int hinge,
                    HingeQuantity first) {
  const int index = mechanism.index_of_hinge(hinge, first);
  return {parameter_of(parameters, index), parameter_of(parameters, index + 1),
          parameter_of(parameters, index + 2)};
}

template <typename T>
Eigen::Matrix<T, 3, 3> inertia_of(const Mechanism& mechanism, const std::vector<T>& parameters,
                                  int body) {
  const auto value = [&](BodyQuantity quantity) {
    return parameter_of(parameters, mechanism.index(body, quantity));
  };
  Eigen::Matrix<T, 3, 3> J;
  J(0, 0) = value(BodyQuantity::kJxx);
  J(1, 1) = value(BodyQuantity::kJyy);
  J(2, 2) = value(BodyQuantity::kJzz);
  J(0, 1) = J(1, 0) = value(BodyQuantity::kJxy);
  J(0, 2) = J(2, 0) = value(BodyQuantity::kJxz);
  J(1, 2) = J(2, 1) = value(BodyQuantity::kJyz);
  return J;
}

/// exp(hat(psi)) y for psi = (x, 0, z), by Rodrigues' formula.
template <typename T>
Vector3<T> turned(const T& x, const T& z, const Vector3<T>& y) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  const T square = x * x + z * z;
  const T excess = square - T(1e-8);  // of where both quotients lose their digits
  const T angle = sqrt(square);
  const T rest = T(1.0) - cos(angle);
  const T sinc = select_positive(excess, sin(angle) / angle, T(1.0) - square / 6.0);  // sin ψ/ψ
  const T cosc = select_positive(excess, rest / square, T(0.5) - square / 24.0);  // (1 − cos ψ)/ψ²
  const Vector3<T> psi(x, T(0.0), z);
  const Vector3<T> once = psi.cross(y);
  const Vector3<T> twice = psi.cross(once);
  return y + sinc * once + cosc * twice;
}

}  // namespace

template <typename T>
TreeInverseDynamics<T>::TreeInverseDynamics(const Mechanism& mechanism,
                                            const std::vector<T>& parameters) {
  assert(is_tree(mechanism) && parameters.size() == mechanism.parameters.size());
  make_links(mechanism, parameters);
  make_axes(mechanism, parameters);
  make_gravity(mechanism, parameters);
}

template <typename T>
void TreeInverseDynamics<T>::make_links(const Mechanism& mechanism,
                                        const std::vector<T>& parameters) {
  std::vector<int> link_of_body(mechanism.bodies.size(), -1);
  std::vector<Eigen::Matrix3d> link_frame(mechanism.bodies.size());  // link → body
  std::vector<Vector3> link_point(mechanism.bodies.size());          // body frame
  for (const TreeEdge& edge : spanning_tree(mechanism)) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(edge.hinge)];
    const Vector3 point_a = point_of(mechanism, parameters, edge.hinge, HingeQuantity::kPointAx);
    const Vector3 point_b = point_of(mechanism, parameters, edge.hinge, HingeQuantity::kPointBx);
    const int parent = edge.forward ? hinge.body_a : hinge.body_b;
    const auto child = static_cast<std::size_t>(edge.forward ? hinge.body_b : hinge.body_a);
    const Eigen::Matrix3d& on_parent = edge.forward ? hinge.frame_a : hinge.frame_b;
    const Vector3& parent_point = edge.forward ? point_a : point_b;
    link_frame[child] = edge.forward ? hinge.frame_b : hinge.frame_a;
    link_point[child] = edge.forward ? point_b : point_a;
    const Eigen::Matrix<T, 3, 3> frame = link_frame[child].template cast<T>();
    Link link;
    link.hinge = edge.hinge;
    link.sign = edge.forward ? 1.0 : -1.0;
    if (parent == Hinge::kGround) {
      link.parent = -1;
      link.mount = on_parent;
      link.from_parent = parent_point;
    } else {
      const auto p = static_cast<std::size_t>(parent);
      link.parent = link_of_body[p];
      link.mount = link_frame[p].transpose() * on_parent;
      const Vector3 offset = parent_point - link_point[p];
      link.from_parent = link_frame[p].transpose().template cast<T>() * offset;
    }
    link.center = -(frame.transpose() * link_point[child]);
    link.mass =
        parameter_of(parameters, mechanism.index(static_cast<int>(child), BodyQuantity::kMass));
    const Matrix3 J = inertia_of(mechanism, parameters, static_cast<int>(child));
    const Matrix3 half = J * frame;
    link.inertia = frame.transpose() * half;
    link_of_body[child] = static_cast<int>(links_.size());
    links_.push_back(link);
  }
  motions_.resize(links_.size());
}

template <typename T>
void TreeInverseDynamics<T>::make_axes(const Mechanism& mechanism,
                                       const std::vector<T>& parameters) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const auto value = [&](HingeQuantity quantity) {
      return parameter_of(parameters, mechanism.index_of_hinge(j, quantity));
    };
    Axis axis;
    axis.viscous = value(HingeQuantity::kViscous);
    axis.quadratic_drag = value(HingeQuantity::kQuadraticDrag);
    axis.coulomb_torque = value(HingeQuantity::kCoulombTorque);
    axis.stribeck_torque = value(HingeQuantity::kStribeckTorque);
    axis.stribeck_rate = value(HingeQuantity::kStribeckRate);
    axis.load_friction = value(HingeQuantity::kLoadFriction);
    axis.load_friction_angular = value(HingeQuantity::kLoadFrictionAngular);
    axis.constant_torque = value(HingeQuantity::kConstantTorque);
    axis.stiffness = value(HingeQuantity::kStiffness);
    axis.rest_angle = value(HingeQuantity::kRestAngle);
    axis.motor_gain = value(HingeQuantity::kMotorGain);
    axis.shaft_inertia = value(HingeQuantity::kShaftInertia);
    axis.back_emf = value(HingeQuantity::kBackEmf);
    axis.load_force = axis.load_moment = T(0.0);
    for (const HingeQuantity quantity :
         {HingeQuantity::kLoadFriction, HingeQuantity::kLoadFrictionAngular}) {
      const Parameter& parameter = mechanism.hinge_parameter(j, quantity);
      load_dependent_ |= parameter.free || parameter.value > 0.0;
    }
    axes_.push_back(axis);
  }
}

template <typename T>
void TreeInverseDynamics<T>::make_gravity(const Mechanism& mechanism,
                                          const std::vector<T>& parameters) {
  const T g = parameter_of(parameters, mechanism.index(WorldQuantity::kGravity));
  const Vector3 up(T(0.0), g, T(0.0));
  up_ = turned(parameter_of(parameters, mechanism.index(WorldQuantity::kTiltX)),
               parameter_of(parameters, mechanism.index(WorldQuantity::kTiltZ)), up);
}

template <typename T>
typename TreeInverseDynamics<T>::Vector3 TreeInverseDynamics<T>::into_link(
    const Link& link, const Motion& motion, const Vector3& of_parent) {
  const Vector3 x = link.mount.transpose().template cast<T>() * of_parent;
  return {x[0], motion.cosine * x[1] + motion.sine * x[2],
          motion.cosine * x[2] - motion.sine * x[1]};
}

template <typename T>
typename TreeInverseDynamics<T>::Vector3 TreeInverseDynamics<T>::into_parent(
    const Link& link, const Motion& motion, const Vector3& of_link) {
  const Vector3 x(of_link[0], motion.cosine * of_link[1] - motion.sine * of_link[2],
                  motion.cosine * of_link[2] + motion.sine * of_link[1]);
  return link.mount.template cast<T>() * x;
}

template <typename T>
T TreeInverseDynamics<T>::axis_imbalance(const Axis& axis, const T& angle, const T& rate,
                                         const T& acceleration, const T& control) const {
  using std::abs;
  const T turns = 2.0 * M_PI * nearest(T(angle / (2.0 * M_PI)));
  const T speed = abs(rate);
  T torque = axis.shaft_inertia * acceleration;
  torque += (axis.viscous + axis.quadratic_drag * speed) * rate;
  torque += axis.stiffness * (angle - turns - axis.rest_angle);
  torque -= axis.constant_torque;
  torque -= axis.motor_gain * (control - axis.back_emf * rate);
  return torque;
}

/// Velocities, accelerations and inertial loads of a link, its parent's being known.
template <typename T>
void TreeInverseDynamics<T>::move_link(std::size_t at, const T& turn, const T& spin,
                                       const T& acceleration) {
  using std::cos;
  using std::sin;
  const Link& link = links_[at];
  Motion& motion = motions_[at];
  motion.cosine = cos(turn);
  motion.sine = sin(turn);
  Vector3 omega = Vector3::Constant(T(0.0)), alpha = omega, base = up_;
  if (link.parent >= 0) {
    const Motion& parent = motions_[static_cast<std::size_t>(link.parent)];
    const Vector3 across = parent.omega.cross(link.from_parent);
    base = parent.acceleration + parent.alpha.cross(link.from_parent) + parent.omega.cross(across);
    omega = into_link(link, motion, parent.omega);
    alpha = into_link(link, motion, parent.alpha);
  }
  motion.acceleration = into_link(link, motion, base);
  alpha[0] += acceleration;
  alpha[1] += spin * omega[2];  // ω_parent × e_x φ̇ = φ̇ (0, ω_z, −ω_y)
  alpha[2] -= spin * omega[1];
  omega[0] += spin;
  const Vector3 swing = omega.cross(link.center);
  const Vector3 center = motion.acceleration + alpha.cross(link.center) + omega.cross(swing);
  motion.force = link.mass * center;
  const Vector3 momentum = link.inertia * omega;
  const Vector3 change = link.inertia * alpha;
  motion.moment = change + omega.cross(momentum) + link.center.cross(motion.force);
  motion.omega = omega;
  motion.alpha = alpha;
}

template <typename T>
void TreeInverseDynamics<T>::imbalance(const VectorX& angle, const VectorX& rate,
                                       const VectorX& acceleration, const VectorX& control,
                                       VectorX& imbalance) {
  using std::abs;
  for (std::size_t at = 0; at < links_.size(); ++at) {
    const int j = links_[at].hinge;
    const double sign = links_[at].sign;
    move_link(at, sign * angle[j], sign * rate[j], sign * acceleration[j]);
  }
  imbalance.resize(hinge_count());
  for (std::size_t at = links_.size(); at-- > 0;) {
    const Link& link = links_[at];
    const Motion& motion = motions_[at];
    const int j = link.hinge;
    Axis& axis = axes_[static_cast<std::size_t>(j)];
    imbalance[j] = link.sign * motion.moment[0] +
                   axis_imbalance(axis, angle[j], rate[j], acceleration[j], control[j]);
    if (load_dependent_) {
      axis.load_force = abs(motion.force[0]) + abs(motion.force[1]) + abs(motion.force[2]);
      axis.load_moment = abs(motion.moment[1]) + abs(motion.moment[2]);
    }
    if (link.parent < 0) continue;
    Motion& parent = motions_[static_cast<std::size_t>(link.parent)];
    const Vector3 force = into_parent(link, motion, motion.force);
    parent.force += force;
    parent.moment += into_parent(link, motion, motion.moment) + link.from_parent.cross(force);
  }
}

template <typename T>
T TreeInverseDynamics<T>::dry_bound(int hinge, const T& rate) const {
  using std::exp;
  const Axis& axis = axes_[static_cast<std::size_t>(hinge)];
  T bound = axis.coulomb_torque;
  const T decay = -axis.stribeck_rate * rate * rate;
  bound += axis.stribeck_torque * exp(decay);
  if (load_dependent_) {
    bound += axis.load_friction * axis.load_force + axis.load_friction_angular * axis.load_moment;
  }
  return bound;
}

template class TreeInverseDynamics<double>;
template class TreeInverseDynamics<Dual>;
template class TreeInverseDynamics<Expression>;

}  // namespace estimator

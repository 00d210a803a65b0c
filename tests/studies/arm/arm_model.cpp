#include "tests/studies/arm/arm_model.hpp"

#include <Eigen/Geometry>

namespace service {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Motion of a link, in the frame of the link.
struct LinkMotion {
  Matrix3d turn;          // link frame → frame of the link before
  Vector3d omega, alpha;  // [rad/s, rad/s²]
  Vector3d velocity;      // of the origin [m/s]
  Vector3d acceleration;  // of the origin, minus gravity [m/s²]
  Vector3d place;         // of the origin in the world [m]
  Matrix3d attitude;      // link frame → world
};

std::vector<LinkMotion> move(const Arm& arm, const Eigen::VectorXd& angle,
                             const Eigen::VectorXd& rate, const Eigen::VectorXd& acceleration) {
  std::vector<LinkMotion> motions(arm.links.size());
  LinkMotion before{Matrix3d::Identity(),
                    Vector3d::Zero(),
                    Vector3d::Zero(),
                    Vector3d::Zero(),
                    arm.gravity * Vector3d::UnitY(),
                    Vector3d::Zero(),
                    Matrix3d::Identity()};
  const Vector3d z = Vector3d::UnitZ();
  for (std::size_t i = 0; i < motions.size(); ++i) {
    const ArmLink& link = arm.links[i];
    const auto at = static_cast<Eigen::Index>(i);
    LinkMotion& own = motions[i];
    own.turn = link.mount * Eigen::AngleAxisd(angle[at], z).toRotationMatrix();
    const Matrix3d into = own.turn.transpose();
    const Vector3d& p = link.point;
    own.velocity = into * (before.velocity + before.omega.cross(p));
    own.acceleration = into * (before.acceleration + before.alpha.cross(p) +
                               before.omega.cross(before.omega.cross(p)));
    const Vector3d carried = into * before.omega;
    own.omega = carried + rate[at] * z;
    own.alpha = into * before.alpha + acceleration[at] * z + rate[at] * carried.cross(z);
    own.place = before.place + before.attitude * p;
    own.attitude = before.attitude * own.turn;
    before = own;
  }
  return motions;
}

Matrix3d cross_matrix(const Vector3d& v) {
  Matrix3d matrix;
  matrix << 0.0, -v.z(), v.y(), v.z(), 0.0, -v.x(), -v.y(), v.x(), 0.0;
  return matrix;
}

/// Returns the matrix that gives I v from the moments I_xx, I_yy, I_zz, I_xy, I_xz, I_yz of I.
Eigen::Matrix<double, 3, 6> inertia_times(const Vector3d& v) {
  Eigen::Matrix<double, 3, 6> matrix;
  matrix << v.x(), 0.0, 0.0, v.y(), v.z(), 0.0,  //
      0.0, v.y(), 0.0, v.x(), 0.0, v.z(),        //
      0.0, 0.0, v.z(), 0.0, v.x(), v.y();
  return matrix;
}

/// Returns the inertia matrix with the six moments of a link.
Matrix3d inertia_of(const ArmLink::Standard& s) {
  Matrix3d matrix;
  matrix << s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2];
  return matrix;
}

/// Returns the joint torques by the Newton–Euler recursion, without rotors and friction.
Eigen::VectorXd torques(const Arm& arm, const Eigen::VectorXd& angle, const Eigen::VectorXd& rate,
                        const Eigen::VectorXd& acceleration) {
  const std::vector<LinkMotion> motions = move(arm, angle, rate, acceleration);
  Eigen::VectorXd torque(arm.size());
  Vector3d force = Vector3d::Zero(), moment = Vector3d::Zero();
  for (int i = arm.size() - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const ArmLink& link = arm.links[at];
    const LinkMotion& own = motions[at];
    const Vector3d first = link.standard.segment<3>(6);
    const Matrix3d inertia = inertia_of(link.standard);
    force += link.standard[9] * own.acceleration + own.alpha.cross(first) +
             own.omega.cross(own.omega.cross(first));
    moment +=
        inertia * own.alpha + own.omega.cross(inertia * own.omega) + first.cross(own.acceleration);
    torque[i] = moment.z();
    force = own.turn * force;
    moment = own.turn * moment + link.point.cross(force);
  }
  return torque;
}

}  // namespace

Eigen::MatrixXd torque_regressor(const Arm& arm, const Eigen::VectorXd& angle,
                                 const Eigen::VectorXd& rate, const Eigen::VectorXd& acceleration) {
  const std::vector<LinkMotion> motions = move(arm, angle, rate, acceleration);
  const int n = arm.size();
  Eigen::MatrixXd Y = Eigen::MatrixXd::Zero(n, 10 * n);
  using Wrench = Eigen::Matrix<double, 3, 10>;
  for (int i = 0; i < n; ++i) {
    const LinkMotion& own = motions[static_cast<std::size_t>(i)];
    const Matrix3d spin = cross_matrix(own.omega);
    Wrench force = Wrench::Zero(), moment = Wrench::Zero();
    force.middleCols<3>(6) = cross_matrix(own.alpha) + spin * spin;
    force.col(9) = own.acceleration;
    moment.leftCols<6>() = inertia_times(own.alpha) + spin * inertia_times(own.omega);
    moment.middleCols<3>(6) = -cross_matrix(own.acceleration);
    for (int j = i; j >= 0; --j) {
      const auto at = static_cast<std::size_t>(j);
      Y.block<1, 10>(j, 10 * i) = moment.row(2);
      force = motions[at].turn * force;
      moment = motions[at].turn * moment + cross_matrix(arm.links[at].point) * force;
    }
  }
  return Y;
}

Eigen::VectorXd energy_regressor(const Arm& arm, const Eigen::VectorXd& angle,
                                 const Eigen::VectorXd& rate) {
  const int n = arm.size();
  const std::vector<LinkMotion> motions = move(arm, angle, rate, Eigen::VectorXd::Zero(n));
  Eigen::VectorXd Y(10 * n);
  const Vector3d up = Vector3d::UnitY();
  for (int i = 0; i < n; ++i) {
    const LinkMotion& own = motions[static_cast<std::size_t>(i)];
    Y.segment<6>(10 * i) = 0.5 * inertia_times(own.omega).transpose() * own.omega;
    Y.segment<3>(10 * i + 6) =
        own.velocity.cross(own.omega) + arm.gravity * own.attitude.transpose() * up;
    Y[10 * i + 9] = 0.5 * own.velocity.squaredNorm() + arm.gravity * own.place.y();
  }
  return Y;
}

Eigen::VectorXd standard_parameters(const Arm& arm) {
  Eigen::VectorXd values(10 * arm.size());
  for (int i = 0; i < arm.size(); ++i) {
    values.segment<10>(10 * i) = arm.links[static_cast<std::size_t>(i)].standard;
  }
  return values;
}

double energy_of(const Arm& arm, const Eigen::VectorXd& angle, const Eigen::VectorXd& rate) {
  double energy = energy_regressor(arm, angle, rate).dot(standard_parameters(arm));
  for (int i = 0; i < arm.size(); ++i) {
    energy += 0.5 * arm.links[static_cast<std::size_t>(i)].shaft * rate[i] * rate[i];
  }
  return energy;
}

ArmState arm_state(const Arm& arm, const Eigen::VectorXd& angle, const Eigen::VectorXd& rate) {
  const int n = arm.size();
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
  const Eigen::VectorXd weight = torques(arm, angle, zero, zero);
  ArmState state;
  state.bias = torques(arm, angle, rate, zero);
  state.mass.resize(n, n);
  for (int j = 0; j < n; ++j) {
    state.mass.col(j) = torques(arm, angle, zero, Eigen::VectorXd::Unit(n, j)) - weight;
    state.mass(j, j) += arm.links[static_cast<std::size_t>(j)].shaft;
  }
  return state;
}

}  // namespace service

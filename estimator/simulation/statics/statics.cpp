#include "estimator/simulation/statics/statics.hpp"

#include <cmath>
#include <limits>

#include "estimator/dynamics/mass_matrix.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/placement.hpp"

namespace estimator {
namespace {

// Central differences of an exact gradient: truncation and round-off are about equal here.
constexpr double kDifference = 1e-5;  // [rad], times the scale of a prismatic joint

}  // namespace

Statics::Statics(const Mechanism& mechanism)
    : mechanism_(mechanism),
      dynamics_(mechanism, parameter_values(mechanism)),
      closure_(mechanism),
      choice_(all_independent(mechanism)) {}

double Statics::potential(const Eigen::VectorXd& coordinates) const {
  const Configuration poses = place_bodies(mechanism_, coordinates);
  const Eigen::Vector3d gravity = gravity_of(mechanism_);
  double V = 0.0;
  for (int i = 0; i < mechanism_.body_count(); ++i) {
    if (mechanism_.bodies[static_cast<std::size_t>(i)].massless) continue;
    V -= mechanism_.parameter(i, BodyQuantity::kMass).value *
         gravity.dot(poses[static_cast<std::size_t>(i)].r);
  }
  for (int j = 0; j < mechanism_.joint_count(); ++j) {
    const auto value = [&](JointQuantity quantity) {
      return mechanism_.joint_parameter(j, quantity).value;
    };
    const Joint& joint = mechanism_.joints[static_cast<std::size_t>(j)];
    const double x = coordinates[j];
    // Spring elongations are wrapped, as in the equations of motion.
    const double stretch = joint.difference(x - value(JointQuantity::kRestAngle));
    V += 0.5 * value(JointQuantity::kStiffness) * stretch * stretch;
    V -= value(JointQuantity::kConstantTorque) * x;
  }
  return V;
}

void Statics::choose(const Eigen::VectorXd& coordinates) {
  if (closure_.has_loops()) choice_ = closure_.choose({coordinates});
}

/// Returns the joint motions Z from J_i dz + J_d dq_d = 0, with equations that determine the
/// dependent joints.
Eigen::MatrixXd Statics::motions(const Eigen::VectorXd& coordinates) {
  const auto free = static_cast<Eigen::Index>(choice_.independent.size());
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(coordinates.size(), free);
  for (Eigen::Index k = 0; k < free; ++k) {
    Z(choice_.independent[static_cast<std::size_t>(k)], k) = 1.0;
  }
  if (choice_.dependent.empty()) return Z;
  const Eigen::MatrixXd J = closure_.jacobian(coordinates);
  const auto& rows = choice_.rows;
  const Eigen::MatrixXd J_d = J(rows, choice_.dependent), J_i = J(rows, choice_.independent);
  const Eigen::MatrixXd follow = -solve_square(J_d, J_i);
  for (std::size_t k = 0; k < choice_.dependent.size(); ++k) {
    Z.row(choice_.dependent[k]) = follow.row(static_cast<Eigen::Index>(k));
  }
  return Z;
}

Eigen::VectorXd Statics::gradient(const Eigen::VectorXd& coordinates) {
  const JointVector<double> angle = coordinates;
  const JointVector<double> zero = JointVector<double>::Zero(coordinates.size());
  JointVector<double> torque;
  dynamics_.torque_residual(angle, zero, zero, zero, torque);
  return motions(coordinates).transpose() * Eigen::VectorXd(torque);
}

bool Statics::move(Eigen::VectorXd& coordinates, const Eigen::VectorXd& step) {
  Eigen::VectorXd wanted =
      Eigen::VectorXd::Constant(coordinates.size(), std::numeric_limits<double>::quiet_NaN());
  const Eigen::MatrixXd Z = motions(coordinates);
  const Eigen::VectorXd moved = coordinates + Z * step;
  for (const int joint : choice_.independent) wanted[joint] = moved[joint];
  coordinates = moved;
  return !closure_.has_loops() || closure_.close(coordinates, wanted);
}

bool Statics::close(Eigen::VectorXd& coordinates, const Eigen::VectorXd& wanted) {
  if (closure_.has_loops()) return closure_.close(coordinates, wanted);
  for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
    if (!std::isnan(wanted[j])) coordinates[j] = wanted[j];
  }
  return true;
}

Statics::Local Statics::at(const Eigen::VectorXd& coordinates) {
  choose(coordinates);
  Local local;
  local.motions = motions(coordinates);
  local.gradient = gradient(coordinates);
  const Eigen::MatrixXd M = mass_matrix(dynamics_, coordinates);
  local.mass = local.motions.transpose() * M * local.motions;
  const Eigen::Index free = local.gradient.size();
  Eigen::MatrixXd K(free, free);
  for (Eigen::Index k = 0; k < free; ++k) {
    const int joint = choice_.independent[static_cast<std::size_t>(k)];
    const double h = kDifference * mechanism_.joints[static_cast<std::size_t>(joint)].units().scale;
    Eigen::VectorXd up = coordinates, down = coordinates;
    move(up, h * Eigen::VectorXd::Unit(free, k));
    move(down, -h * Eigen::VectorXd::Unit(free, k));
    K.col(k) = (gradient(up) - gradient(down)) / (2.0 * h);
  }
  local.stiffness = 0.5 * (K + K.transpose());
  return local;
}

}  // namespace estimator

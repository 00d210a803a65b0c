#include "tests/estimator/dynamics/tree_forward_dynamics.hpp"

#include <cmath>

namespace estimator {
namespace {

/// Load-dependent friction depends on the acceleration: fixed-point iterations of the values and of
/// their derivatives, each of which reduces the error by a factor of about μ.
constexpr int kLoadRounds = 40;
constexpr double kForwardLoadTolerance = 1e-14;
constexpr int kLoadDerivativeRounds = 6;

template <typename T>
JointVector<double> values_of(const JointVector<T>& x) {
  JointVector<double> values(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) values[i] = value_of(x[i]);
  return values;
}

template <typename T>
std::vector<double> values_of(const std::vector<T>& x) {
  std::vector<double> values;
  values.reserve(x.size());
  for (const T& each : x) values.push_back(value_of(each));
  return values;
}

}  // namespace

template <typename T>
TreeForwardDynamics<T>::TreeForwardDynamics(const Mechanism& mechanism,
                                            const std::vector<T>& parameters)
    : dynamics_(mechanism, parameters),
      mass_(Matrix::Identity(joint_count(), joint_count())),
      factor_(mass_) {  // one without a matrix must not be copied
  if constexpr (!std::is_same_v<T, double>) {
    plain_ = std::make_unique<TreeForwardDynamics<double>>(mechanism, values_of(parameters));
  }
}

template <typename T>
void TreeForwardDynamics<T>::add_friction(const Vector& rate, const Contacts& contacts,
                                          Vector& residual) const {
  for (int j = 0; j < joint_count(); ++j) {
    const Contact contact = contacts[static_cast<std::size_t>(j)];
    if (contact == Contact::kStick) {
      residual[j] = T(0.0);
    } else {
      residual[j] += static_cast<double>(contact) * dynamics_.dry_bound(j, rate[j]);
    }
  }
}

/// M by columns: the inverse dynamics is affine in the accelerations. Sticking joints get rows and
/// columns of the identity.
template <typename T>
void TreeForwardDynamics<T>::assemble_mass_matrix(const Vector& angle, const Vector& rate,
                                                  const Vector& control, const Contacts& contacts) {
  const int n = joint_count();
  mass_.resize(n, n);
  Vector unit = Vector::Zero(n);
  dynamics_.torque_residual(angle, rate, unit, control, imbalance_);
  for (int k = 0; k < n; ++k) {
    unit[k] = T(1.0);
    dynamics_.torque_residual(angle, rate, unit, control, residual_);
    unit[k] = T(0.0);
    for (int j = 0; j < n; ++j) {
      const bool slips = contacts[static_cast<std::size_t>(j)] != Contact::kStick &&
                         contacts[static_cast<std::size_t>(k)] != Contact::kStick;
      mass_(j, k) = slips ? value_of(residual_[j] - imbalance_[j]) : (j == k ? 1.0 : 0.0);
    }
  }
  factor_.compute(mass_);
}

template <typename T>
void TreeForwardDynamics<T>::accelerate(const Vector& angle, const Vector& rate,
                                        const Vector& control, const Contacts& contacts,
                                        Vector& acceleration) {
  if constexpr (std::is_same_v<T, double>) {
    solve(angle, rate, control, contacts, acceleration);
  } else {
    differentiate(angle, rate, control, contacts, acceleration);
  }
}

template <typename T>
void TreeForwardDynamics<T>::solve(const Vector& angle, const Vector& rate, const Vector& control,
                                   const Contacts& contacts,
                                   Vector& acceleration) requires std::is_same_v<T, double> {
  assemble_mass_matrix(angle, rate, control, contacts);
  const Vector at_rest = imbalance_;  // ρ at zero acceleration
  acceleration.setZero(joint_count());
  for (int round = 0; round < kLoadRounds; ++round) {
    if (dynamics_.is_load_dependent()) {
      dynamics_.torque_residual(angle, rate, acceleration, control, imbalance_);
    }
    residual_ = at_rest;
    add_friction(rate, contacts, residual_);
    const Vector before = acceleration;
    acceleration = -residual_;
    factor_.solveInPlace(acceleration);
    if (!dynamics_.is_load_dependent()) break;
    if ((acceleration - before).cwiseAbs().maxCoeff() <=
        kForwardLoadTolerance * (1.0 + acceleration.cwiseAbs().maxCoeff())) {
      break;
    }
  }
  dynamics_.torque_residual(angle, rate, acceleration, control, imbalance_);
}

template <typename T>
void TreeForwardDynamics<T>::differentiate(const Vector& angle, const Vector& rate,
                                           const Vector& control, const Contacts& contacts,
                                           Vector& acceleration) requires std::is_same_v<T, Dual> {
  const int n = joint_count();
  JointVector<double> values;
  plain_->accelerate(values_of(angle), values_of(rate), values_of(control), contacts, values);
  acceleration.resize(n);
  for (int j = 0; j < n; ++j) acceleration[j] = Dual(values[j]);
  const int rounds = dynamics_.is_load_dependent() ? kLoadDerivativeRounds : 1;
  Eigen::Matrix<double, Eigen::Dynamic, kDualLanes, 0, kTreeJointsMax, kDualLanes> slopes(
      n, static_cast<int>(kDualLanes));
  for (int round = 0; round < rounds; ++round) {
    dynamics_.torque_residual(angle, rate, acceleration, control, imbalance_);
    residual_ = imbalance_;
    add_friction(rate, contacts, residual_);
    for (int j = 0; j < n; ++j) slopes.row(j) = residual_[j].derivatives().transpose();
    plain_->factor_.solveInPlace(slopes);
    for (int j = 0; j < n; ++j) acceleration[j].derivatives() -= slopes.row(j).transpose();
  }
}

template class TreeForwardDynamics<double>;
template class TreeForwardDynamics<Dual>;

}  // namespace estimator

#include "tests/studies/arm/arm_energy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/simulation/loops/base_inertial_parameters.hpp"

namespace service {
namespace {

namespace est = estimator;
using Eigen::VectorXd;

constexpr double kEnergyStep = 1e-5;       // relative, for central differences
constexpr double kSmallEnergyStep = 1e-8;  // for values near zero

double value_of(const est::Mechanism& mechanism, int joint, est::JointParameter quantity) {
  return mechanism.joint_parameter(joint, quantity).value;
}

/// Returns the trapezoidal integrals over an interval by which a joint's viscous friction b and
/// Coulomb friction τ_c are multiplied to give the friction loss.
std::pair<double, double> friction_parts(double before, double after, double period) {
  return {0.5 * period * (before * before + after * after),
          0.5 * period * (std::abs(before) + std::abs(after))};
}

}  // namespace

EnergyObservedProblem::EnergyObservedProblem(est::ShootingProblem problem, const Arm& geometry,
                                             const ArmRun& run, double noise)
    : problem_(std::move(problem)), free_(problem_.mechanism()), run_(run), noise_(noise) {
  point_.arm = geometry;
  point_.mechanism = problem_.mechanism();
  point_.states = problem_.node_states(0);
  copy_parameter_values(point_);
  point_.cost = total_cost(point_);
  candidate_ = point_;
  update_sensitivities();
  make_order();
}

/// Orders the energy observations among the problem's residual blocks, so that none follows a block
/// that uses later nodes.
void EnergyObservedProblem::make_order() {
  est::ResidualBlock block;
  Eigen::Index next = 0;
  const Eigen::Index last = point_.states.cols() - 1;
  for (int index = 0; index < problem_.block_count(); ++index) {
    problem_.linearize(index, block);
    const bool is_prior = block.node_span == 0;
    while (next < last && (is_prior || block.first_node + block.node_span - 1 > next + 1)) {
      order_.push_back(static_cast<int>(-1 - next++));
    }
    order_.push_back(index);
  }
  while (next < last) order_.push_back(static_cast<int>(-1 - next++));
}

void EnergyObservedProblem::copy_parameter_values(Iterate& point) const {
  const VectorXd standard = est::standard_parameter_values(point.mechanism);
  for (int j = 0; j < point.arm.size(); ++j) {
    ArmLink& link = point.arm.links[static_cast<std::size_t>(j)];
    link.standard = standard.segment<10>(10 * j);
    link.viscous = value_of(point.mechanism, j, est::JointParameter::kViscous);
    link.coulomb = value_of(point.mechanism, j, est::JointParameter::kCoulombTorque);
    link.gain = value_of(point.mechanism, j, est::JointParameter::kMotorGain);
    link.shaft = value_of(point.mechanism, j, est::JointParameter::kShaftInertia);
  }
}

/// Returns the standard deviation of the work of the recorded controls [J], for gains near 1.
double EnergyObservedProblem::deviation(Eigen::Index node) const {
  double variance = 0.0;
  for (Eigen::Index j = 0; j < run_.angles.cols(); ++j) {
    const double u = run_.controls(node, j);
    const double moved = run_.angles(node + 1, j) - run_.angles(node, j);
    variance += noise_ * noise_ * (2.0 * u * u + moved * moved);
  }
  return std::sqrt(variance);
}

double EnergyObservedProblem::residual(const Iterate& point, Eigen::Index node) const {
  const Eigen::Index n = point.arm.size();
  const auto energy = [&](Eigen::Index k) {
    return energy_of(point.arm, point.states.col(k).head(n), point.states.col(k).tail(n));
  };
  double balance = energy(node + 1) - energy(node);
  for (Eigen::Index j = 0; j < n; ++j) {
    const ArmLink& link = point.arm.links[static_cast<std::size_t>(j)];
    const auto [viscous, dry] =
        friction_parts(point.states(n + j, node), point.states(n + j, node + 1), run_.period);
    balance +=
        link.viscous * viscous + link.coulomb * dry -
        link.gain * run_.controls(node, j) * (run_.angles(node + 1, j) - run_.angles(node, j));
  }
  return balance / deviation(node);
}

double EnergyObservedProblem::total_cost(const Iterate& point) const {
  double sum = 0.0;
  for (Eigen::Index k = 0; k + 1 < point.states.cols(); ++k) sum += std::pow(residual(point, k), 2);
  return sum;
}

void EnergyObservedProblem::update_sensitivities() {
  const std::vector<int>& indices = free_.parameter_indices();
  standard_sensitivities_.resize(11 * point_.arm.size(), std::ssize(indices));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto moved = [&](double by) {
      est::Mechanism other = point_.mechanism;
      other.parameters[static_cast<std::size_t>(indices[i])].value += by;
      est::apply_dependencies(other);
      return est::standard_parameter_values(other);
    };
    const double value = point_.mechanism.at(indices[i]).value;
    const double step = std::max(kEnergyStep * std::abs(value), kSmallEnergyStep);
    standard_sensitivities_.col(static_cast<Eigen::Index>(i)) =
        (moved(step) - moved(-step)) / (2.0 * step);
  }
}

void EnergyObservedProblem::linearize(int index, est::ResidualBlock& out) const {
  const int own = order_[static_cast<std::size_t>(index)];
  if (own >= 0) {
    problem_.linearize(own, out);
    return;
  }
  const Eigen::Index node = -1 - own, n = point_.arm.size();
  const int size = static_cast<int>(2 * n);
  est::resize_block(out, static_cast<int>(node), 2, size, free_.size(), 1,
                    problem_.noise_group_count());
  out.residual[0] = residual(point_, node);
  const double weight = 1.0 / deviation(node);
  VectorXd standard = VectorXd::Zero(11 * n);  // coefficients of standard parameters and rotors
  out.parameter_jacobian.setZero();
  for (int end = 0; end < 2; ++end) {
    const VectorXd angle = point_.states.col(node + end).head(n);
    const VectorXd rate = point_.states.col(node + end).tail(n);
    const double sign = end == 1 ? weight : -weight;
    standard.head(10 * n) += sign * energy_regressor(point_.arm, angle, rate);
    standard.tail(n) += sign * 0.5 * rate.cwiseAbs2();
    const VectorXd momentum = arm_state(point_.arm, angle, rate).mass * rate;
    for (Eigen::Index j = 0; j < n; ++j) {
      const VectorXd aside = kEnergyStep * VectorXd::Unit(n, j);
      const ArmLink& link = point_.arm.links[static_cast<std::size_t>(j)];
      const double slope = (energy_of(point_.arm, angle + aside, rate) -
                            energy_of(point_.arm, angle - aside, rate)) /
                           (2.0 * kEnergyStep);
      const double friction = link.viscous * 2.0 * rate[j] + link.coulomb * (rate[j] < 0 ? -1 : 1);
      out.node_jacobian(0, end * size + j) = sign * slope;
      out.node_jacobian(0, end * size + n + j) =
          sign * momentum[j] + weight * 0.5 * run_.period * friction;
    }
  }
  out.parameter_jacobian.row(0) = standard.transpose() * standard_sensitivities_;
  for (int j = 0; j < static_cast<int>(n); ++j) {
    const auto [viscous, dry] =
        friction_parts(point_.states(n + j, node), point_.states(n + j, node + 1), run_.period);
    const double work = run_.controls(node, j) * (run_.angles(node + 1, j) - run_.angles(node, j));
    const auto add = [&](est::JointParameter quantity, double slope) {
      const int column = free_.find_position(point_.mechanism.joint_parameter_index(j, quantity));
      if (column >= 0) out.parameter_jacobian(0, column) += weight * slope;
    };
    add(est::JointParameter::kViscous, viscous);
    add(est::JointParameter::kCoulombTorque, dry);
    add(est::JointParameter::kMotorGain, -work);
  }
}

double EnergyObservedProblem::evaluate_trial_step(const VectorXd& node_step,
                                                  const VectorXd& parameter_step) {
  const double inner = problem_.evaluate_trial_step(node_step, parameter_step);
  free_.move(point_.mechanism, parameter_step, candidate_.mechanism);
  candidate_.states =
      point_.states + node_step.reshaped(point_.states.rows(), point_.states.cols());
  copy_parameter_values(candidate_);
  candidate_.cost = total_cost(candidate_);
  return inner + candidate_.cost;
}

void EnergyObservedProblem::accept_trial_step() {
  problem_.accept_trial_step();
  std::swap(point_, candidate_);
  update_sensitivities();
}

void EnergyObservedProblem::save_point() {
  problem_.save_point();
  saved_ = point_;
}

void EnergyObservedProblem::restore_point() {
  problem_.restore_point();
  point_ = saved_;
  update_sensitivities();
}

}  // namespace service

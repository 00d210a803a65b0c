#include "estimator/simulation/loops/ground_contact_points.hpp"

#include <algorithm>

#include "estimator/dynamics/impact.hpp"
#include "estimator/simulation/loops/ground_contact_lanes.hpp"

namespace estimator {

GroundContactPoints::GroundContactPoints(const TreeProgram& program, const Mechanism& values)
    : program_(program),
      n_(program.joint_count()),
      m_(program.contact_equation_count()),
      rows_(program.make_value_rows(values, kLanes)) {
  program.program().run<kLanes>(TreeProgram::kParameters, rows_.data());
}

/// Runs the sections after the parameters.
void GroundContactPoints::run(TreeProgram::Section last) {
  for (int section = TreeProgram::kClosure; section <= last; ++section) {
    program_.program().run<kLanes>(section, rows_.data());
  }
}

/// Sets the coordinates, and sets rates, accelerations and reactions to zero.
void GroundContactPoints::set_coordinates(const Eigen::VectorXd& coordinates) {
  for (int j = 0; j < n_; ++j) {
    std::fill_n(row(program_.angle_row(j)), kLanes, coordinates[j]);
    std::fill_n(row(program_.rate_row(j)), kLanes, 0.0);
    std::fill_n(row(program_.acceleration_row(j)), kLanes, 0.0);
  }
  for (int i = 0; i < m_; ++i) {
    std::fill_n(row(program_.loop_reaction_row(program_.contact_equation(i))), kLanes, 0.0);
  }
}

void GroundContactPoints::evaluate(const Eigen::VectorXd& coordinates) {
  set_coordinates(coordinates);
  run(TreeProgram::kClosure);
  positions_.resize(m_);
  jacobian_.resize(m_, n_);
  for (int i = 0; i < m_; ++i) {
    const int equation = program_.contact_equation(i);
    positions_[i] = *row(program_.closure_violation_row(equation));
    for (int j = 0; j < n_; ++j) jacobian_(i, j) = *row(program_.closure_jacobian_row(equation, j));
  }
}

Eigen::MatrixXd GroundContactPoints::parameter_jacobian() {
  run(TreeProgram::kSensitivities);
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(m_, std::ssize(program_.motion_parameters()));
  for (const TreeProgram::SparseEntry& entry : program_.closure_derivatives()) {
    jacobian(entry.joint, entry.column - 2 * n_) = *row(entry.row);
  }
  return jacobian;
}

void GroundContactPoints::apply_impulse(const SegmentControls& controls, int substep,
                                        const Eigen::VectorXd& coordinates,
                                        Eigen::VectorXd& rates) {
  set_coordinates(coordinates);
  run(TreeProgram::kBalance);
  mass_.resize(n_, n_);
  active_.setZero(m_, n_);
  Eigen::MatrixXd force = Eigen::MatrixXd::Zero(n_, m_);
  for (int i = 0; i < m_; ++i) {
    if (!controls.is_active(substep, program_.contact_of_equation()[i])) continue;
    for (int j = 0; j < n_; ++j) {
      active_(i, j) = *row(program_.closure_jacobian_row(program_.contact_equation(i), j));
      if (program_.bears_contact_reactions(j)) force(j, i) = active_(i, j);
    }
  }
  for (int j = 0; j < n_; ++j) {
    for (int k = 0; k < n_; ++k) mass_(j, k) = *row(program_.mass_matrix_row(j, k));
  }
  response_ = solve_positive_definite<double>(mass_, force);
  Eigen::MatrixXd mobility = active_ * response_;
  const double scale = mobility.trace() / static_cast<double>(m_);
  for (int i = 0; i < m_; ++i) {
    mobility(i, i) += mobility(i, i) > 0.0 ? kContactRegularization * scale : 1.0;
  }
  mobility_.compute(mobility);
  after_ = rates;
  impulse_.setZero(m_);
  for (int round = 0; round < 2; ++round) {  // the second round corrects the Tikhonov term
    const Eigen::VectorXd more = mobility_.solve(active_ * after_);
    impulse_ += more;
    after_ -= response_ * more;
  }
  jump_ = after_ - rates;
  rates = after_;
}

/// The first lane has the jump of the rates as accelerations and the impulse as reaction; the
/// second has zero instead. Their difference is the derivative of M (v⁺ − v⁻) + Gᵀ Λ. The third
/// lane has the rates v⁺, for the derivative of G v⁺.
void GroundContactPoints::differentiate_impulse(Eigen::MatrixXd& slopes) {
  const auto parameters = static_cast<Eigen::Index>(program_.motion_parameters().size());
  for (int j = 0; j < n_; ++j) {
    row(program_.acceleration_row(j))[0] = jump_[j];
    row(program_.rate_row(j))[2] = after_[j];
  }
  for (int i = 0; i < m_; ++i) {
    row(program_.loop_reaction_row(program_.contact_equation(i)))[0] = impulse_[i];
  }
  run(TreeProgram::kSensitivities);
  Eigen::MatrixXd balance = Eigen::MatrixXd::Zero(n_, n_ + parameters);
  for (const TreeProgram::SparseEntry& entry : program_.derivatives()) {
    if (entry.column >= n_ && entry.column < 2 * n_) continue;
    const double* slope = row(entry.row);
    balance(entry.joint, entry.column < n_ ? entry.column : entry.column - n_) +=
        slope[0] - slope[1];
  }
  Eigen::MatrixXd sliding = Eigen::MatrixXd::Zero(m_, n_ + parameters);
  for (const TreeProgram::SparseEntry& entry : program_.closure_rate_derivatives()) {
    if (active_.row(entry.joint).isZero(0.0)) continue;
    sliding(entry.joint, entry.column < n_ ? entry.column : entry.column - n_) += row(entry.row)[2];
  }
  const auto along = [&](const Eigen::MatrixXd& derivatives) {
    Eigen::MatrixXd sum = derivatives.leftCols(n_) * slopes.topRows(n_);
    sum.rightCols(parameters) += derivatives.rightCols(parameters);
    return sum;
  };
  Eigen::MatrixXd rates =
      slopes.bottomRows(n_) - solve_positive_definite<double>(mass_, along(balance));
  const Eigen::MatrixXd open = along(sliding);
  for (int round = 0; round < 2; ++round) {
    rates -= response_ * mobility_.solve(active_ * rates + open);
  }
  slopes.bottomRows(n_) = rates;
}

std::unique_ptr<GroundContactPoints> make_ground_contact_points(const TreeProgram& program,
                                                                const Mechanism& values) {
  if (program.contact_equation_count() == 0) return nullptr;
  return std::make_unique<GroundContactPoints>(program, values);
}

}  // namespace estimator

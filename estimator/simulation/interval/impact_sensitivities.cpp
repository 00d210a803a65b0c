#include "estimator/simulation/interval/impact_sensitivities.hpp"

#include <algorithm>
#include <cstddef>

#include "estimator/model/parameter_dependencies.hpp"

namespace estimator {

ImpactSensitivities::ImpactSensitivities(const TreeProgram& program, const Mechanism& values)
    : program_(program), stops_(joint_stops(values)) {
  if (stops_.empty()) return;
  for (const JointStop& stop : stops_) {
    positions_.push_back(gradient_of(values, values.index_of_joint(stop.joint, stop.where)));
    restitutions_.push_back(
        gradient_of(values, values.index_of_joint(stop.joint, JointQuantity::kRestitution)));
  }
  rows_.assign(static_cast<std::size_t>(program.program().row_count()) * kLanes, 0.0);
  program.program().fill_constants(rows_.data(), kLanes);
  for (std::size_t i = 0; i < program.motion_parameters().size(); ++i) {
    const auto index = static_cast<std::size_t>(program.motion_parameters()[i]);
    std::fill_n(row(program.parameter_row(static_cast<int>(i))), kLanes,
                values.parameters[index].value);
  }
  program.program().run<kLanes>(TreeProgram::kParameters, rows_.data());
}

ImpactSensitivities::Gradient ImpactSensitivities::gradient_of(const Mechanism& values,
                                                               int parameter) const {
  const std::vector<int>& motion_parameters = program_.motion_parameters();
  const auto place = [&](int index) {
    return static_cast<int>(std::ranges::find(motion_parameters, index) -
                            motion_parameters.begin());
  };
  Gradient gradient;
  const auto add = [&](int index, double factor) {
    if (place(index) < std::ssize(motion_parameters)) gradient.emplace_back(place(index), factor);
  };
  if (const ParameterDependency* tie = find_dependency(values, parameter); tie != nullptr) {
    for (const DependencyTerm& term : tie->terms) add(term.parameter, term.factor);
  } else {
    add(parameter, 1.0);
  }
  return gradient;
}

/// Computes the mass matrix M and the derivatives of M (v⁺ − v⁻). The first lane has the jump of
/// the rates as accelerations, the other lanes have zero. Rates, controls and friction are zero.
void ImpactSensitivities::evaluate(const MotionImpact& impact, const JointVector<double>& jump) {
  const int n = program_.joint_count();
  for (int j = 0; j < n; ++j) {
    std::fill_n(row(program_.angle_row(j)), kLanes, impact.position[j]);
    std::fill_n(row(program_.acceleration_row(j)), kLanes, 0.0);
    *row(program_.acceleration_row(j)) = jump[j];
  }
  for (const auto section : {TreeProgram::kClosure, TreeProgram::kBalance, TreeProgram::kLoad,
                             TreeProgram::kSensitivities}) {
    program_.program().run<kLanes>(section, rows_.data());
  }
  mass_.resize(n, n);
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) mass_(j, k) = *row(program_.mass_row(j, k));
  }
  balance_.setZero(n, n + std::ssize(program_.motion_parameters()));
  for (const TreeProgram::Entry& entry : program_.slopes()) {
    if (entry.column >= n && entry.column < 2 * n) continue;
    const double* slope = row(entry.row);
    balance_(entry.joint, entry.column < n ? entry.column : entry.column - n) +=
        slope[0] - slope[1];
  }
}

void ImpactSensitivities::pass(const MotionEvent& event, Eigen::MatrixXd& slopes) {
  const MotionImpact& impact = *event.impact;
  const auto stop = static_cast<std::size_t>(impact.stop);
  const int n = program_.joint_count(), joint = stops_[stop].joint;
  const Eigen::Index directions = slopes.cols(), parameters = directions - 2 * n;
  evaluate(impact, event.rates - impact.rates);
  Eigen::RowVectorXd position = Eigen::RowVectorXd::Zero(directions);  // δs
  for (const auto& [place, factor] : positions_[stop]) position[2 * n + place] = factor;
  Eigen::RowVectorXd time = Eigen::RowVectorXd::Zero(directions);  // δt
  if (impact.speed != 0.0) time = (position - slopes.row(joint)) / impact.speed;

  Eigen::MatrixXd q = slopes.topRows(n) + impact.rates * time;
  const Eigen::MatrixXd arriving = slopes.bottomRows(n) + impact.before * time;
  q.row(joint) = position;
  Eigen::MatrixXd force = balance_.leftCols(n) * q;
  force.rightCols(parameters) += balance_.rightCols(parameters);
  Eigen::MatrixXd v = arriving - solve_definite<double>(mass_, force);
  // M δv⁺ − Jᵀ δΛ = M δv⁻ − δM (v⁺ − v⁻) and J δv⁺ = −E J δv⁻ − δE J v⁻ [MTM, eq. 14].
  Eigen::MatrixXd wanted(std::ssize(impact.struck), directions);
  for (Eigen::Index i = 0; i < wanted.rows(); ++i) {
    const ImpactedJoint<double>& each = impact.struck[static_cast<std::size_t>(i)];
    wanted.row(i) = -each.restitution * arriving.row(each.joint) - v.row(each.joint);
    if (each.joint != joint || !impact.rebounds) continue;
    for (const auto& [place, factor] : restitutions_[stop]) {
      wanted(i, 2 * n + place) -= factor * impact.rates[joint];
    }
  }
  v += apply_joint_impulses<double>(mass_, impact.struck, wanted);
  slopes.topRows(n) = q - event.rates * time;
  slopes.bottomRows(n) = v - impact.after * time;
  for (int j = 0; j < n; ++j) {
    if (is_held(event.contacts[static_cast<std::size_t>(j)])) slopes.row(n + j).setZero();
  }
}

}  // namespace estimator

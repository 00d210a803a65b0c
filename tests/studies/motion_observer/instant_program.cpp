#include "tests/studies/motion_observer/instant_program.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

namespace estimator {
namespace {

using Dynamics = TreeInverseDynamics<Expression>;

Expression quantity_of(const Dynamics& dynamics, const std::array<Dynamics::VectorX, 3>& motion,
                       const InstantAxis& axis) {
  const auto component = static_cast<std::size_t>(axis.component);
  switch (axis.quantity) {
    case InstantQuantity::kMotion:
      return motion[component][axis.index];
    case InstantQuantity::kInertial:
      return dynamics.sensor_readings(axis.index)[component];
    case InstantQuantity::kLoad:
      return dynamics.joint_loads(axis.index)[component];
    case InstantQuantity::kAcceleration:
      break;
  }
  return dynamics.body_accelerations(axis.index)[component];
}

}  // namespace

InstantModel::InstantModel(const Mechanism& mechanism, std::vector<InstantAxis> axes, bool outside)
    : joint_count_(mechanism.joint_count()),
      unknown_count_((outside ? 9 : 3) * joint_count_),
      axes_(std::move(axes)) {
  ExpressionGraph graph;
  std::vector<SimdProgram::ProgramInput> inputs;
  std::vector<Expression> unknowns;
  for (int i = 0; i < unknown_count_; ++i) {
    unknowns.push_back(graph.input());
    inputs.push_back({unknowns.back(), kReadings});
  }
  std::vector<Expression> values;
  for (const Parameter& parameter : mechanism.parameters) values.emplace_back(parameter.value);
  substitute_dependent_parameters(mechanism, values);
  Dynamics dynamics(mechanism, values);
  const auto unknown = [&](int index) { return unknowns[static_cast<std::size_t>(index)]; };
  std::array<Dynamics::VectorX, 3> motion;
  for (int part = 0; part < 3; ++part) {
    Dynamics::VectorX& each = motion[static_cast<std::size_t>(part)];
    each.resize(joint_count_);
    for (int j = 0; j < joint_count_; ++j) each[j] = unknown(part * joint_count_ + j);
  }
  for (int j = 0; outside && j < joint_count_; ++j) {
    const int at = motion_count() + 6 * j;
    dynamics.set_external_wrench(j, {unknown(at), unknown(at + 1), unknown(at + 2)},
                                 {unknown(at + 3), unknown(at + 4), unknown(at + 5)});
  }
  const Dynamics::VectorX control = Dynamics::VectorX::Constant(joint_count_, Expression(0.0));
  Dynamics::VectorX unused;
  dynamics.torque_residual(motion[0], motion[1], motion[2], control, unused);
  std::vector<std::vector<Expression>> outputs(kSectionCount);
  for (const InstantAxis& axis : axes_) {
    outputs[kReadings].push_back(quantity_of(dynamics, motion, axis));
  }
  const auto along = differentiate(graph, outputs[kReadings], unknowns);
  depends_.setConstant(axis_count(), unknown_count_, false);
  for (int axis = 0; axis < axis_count(); ++axis) {
    for (int i = 0; i < unknown_count_; ++i) {
      const Expression& slope = along[static_cast<std::size_t>(axis)][static_cast<std::size_t>(i)];
      if (slope.is_constant(0.0)) continue;
      depends_(axis, i) = true;
      entries_.push_back({axis, i, static_cast<int>(outputs[kSensitivities].size())});
      outputs[kSensitivities].push_back(slope);
    }
  }
  program_ = SimdProgram(graph, inputs, outputs);
  for (Entry& entry : entries_) entry.row = program_.output_row(kSensitivities, entry.row);
  rows_.assign(static_cast<std::size_t>(program_.row_count()) * kWidth, 0.0);
  program_.fill_constants(rows_.data(), kWidth);
  program_.run<kWidth>(kFixed, rows_.data());
}

void InstantModel::read(const Eigen::Ref<const Eigen::VectorXd>& unknowns,
                        Eigen::VectorXd& values) {
  for (int i = 0; i < unknown_count_; ++i) {
    std::fill_n(row_at<kWidth>(rows_, program_.input_row(i)), kWidth,
                i < unknowns.size() ? unknowns[i] : 0.0);
  }
  program_.run<kWidth>(kReadings, rows_.data());
  values.resize(axis_count());
  for (int axis = 0; axis < axis_count(); ++axis) {
    values[axis] = *row_at<kWidth>(rows_, program_.output_row(kReadings, axis));
  }
}

void InstantModel::linearize(Eigen::MatrixXd& slopes) {
  program_.run<kWidth>(kSensitivities, rows_.data());
  if (slopes.rows() != axis_count() || slopes.cols() != unknown_count_) {
    slopes.setZero(axis_count(), unknown_count_);
  }
  for (const Entry& entry : entries_) {
    slopes(entry.axis, entry.unknown) = *row_at<kWidth>(rows_, entry.row);
  }
}

}  // namespace estimator

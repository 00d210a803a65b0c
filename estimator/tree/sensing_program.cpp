#include "estimator/tree/sensing_program.hpp"

#include <utility>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/tree/tied_values.hpp"

namespace estimator {

SensingProgram::SensingProgram(const Mechanism& mechanism, std::vector<int> axes,
                               std::vector<int> parameters)
    : joint_count_(mechanism.hinge_count()),
      axes_(std::move(axes)),
      parameters_(std::move(parameters)) {
  using Dynamics = TreeInverseDynamics<Expression>;
  ExpressionGraph graph;
  std::vector<LaneProgram::Input> inputs;
  std::vector<Expression> columns;
  const auto input = [&](int section) {
    inputs.push_back({graph.input(), section});
    columns.push_back(inputs.back().expression);
    return inputs.back().expression;
  };
  Dynamics::VectorX motion[3];
  for (Dynamics::VectorX& part : motion) {
    part.resize(joint_count_);
    for (int j = 0; j < joint_count_; ++j) part[j] = input(kReadings);
  }
  std::vector<Expression> values;
  for (const Parameter& parameter : mechanism.parameters) values.emplace_back(parameter.value);
  for (const int index : parameters_) values[static_cast<std::size_t>(index)] = input(kParameters);
  tie_values(mechanism, values);
  Dynamics dynamics(mechanism, values);
  const Dynamics::VectorX control = Dynamics::VectorX::Constant(joint_count_, Expression(0.0));
  Dynamics::VectorX unused;
  dynamics.imbalance(motion[0], motion[1], motion[2], control, unused);
  std::vector<std::vector<Expression>> outputs(kSectionCount);
  for (const int axis : axes_) {
    const auto own = dynamics.inertial_readings(axis / InertialSensor::kAxes);
    outputs[kReadings].push_back(own[static_cast<std::size_t>(axis % InertialSensor::kAxes)]);
  }
  const auto along = differentiate(graph, outputs[kReadings], columns);
  for (int axis = 0; axis < axis_count(); ++axis) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const Expression& slope = along[static_cast<std::size_t>(axis)][column];
      if (slope.is_constant(0.0)) continue;
      slopes_.push_back(
          {axis, static_cast<int>(column), static_cast<int>(outputs[kSlopes].size())});
      outputs[kSlopes].push_back(slope);
    }
  }
  program_ = LaneProgram(graph, inputs, outputs);
  for (Entry& entry : slopes_) entry.row = program_.output_row(kSlopes, entry.row);
}

std::vector<int> sensing_parameters(const Mechanism& mechanism) {
  std::vector<int> indices;
  for (int i = 0; i < mechanism.inertial_count(); ++i) {
    for (int quantity = 0; quantity < Mechanism::kInertialQuantities; ++quantity) {
      const int index = mechanism.index_of_inertial(i, static_cast<InertialQuantity>(quantity));
      if (mechanism.parameters[static_cast<std::size_t>(index)].free) indices.push_back(index);
    }
  }
  return indices;
}

}  // namespace estimator

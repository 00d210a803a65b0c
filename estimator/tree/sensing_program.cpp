#include "estimator/tree/sensing_program.hpp"

#include <utility>

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
  Dynamics::VectorX control = Dynamics::VectorX::Constant(joint_count_, Expression(0.0));
  for (int j = 0; j < joint_count_; ++j) {
    if (!mechanism.hinges[static_cast<std::size_t>(j)].motorised) continue;
    control[j] = input(kReadings);
    ++motor_count_;
  }
  Dynamics::VectorX unused;
  dynamics.imbalance(motion[0], motion[1], motion[2], control, unused);
  std::vector<std::vector<Expression>> outputs(kSectionCount);
  const int first_load = load_axis(mechanism, 0, JointLoad::kTorque);
  constexpr int kLoads = static_cast<int>(JointLoad::kCount);
  for (const int axis : axes_) {
    if (axis < first_load) {
      const auto own = dynamics.inertial_readings(axis / InertialSensor::kAxes);
      outputs[kReadings].push_back(own[static_cast<std::size_t>(axis % InertialSensor::kAxes)]);
    } else {
      const auto own = dynamics.joint_loads((axis - first_load) / kLoads);
      outputs[kReadings].push_back(own[static_cast<std::size_t>((axis - first_load) % kLoads)]);
    }
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

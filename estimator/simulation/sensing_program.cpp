#include "estimator/simulation/sensing_program.hpp"

#include <utility>

#include "estimator/model/encoder.hpp"

namespace estimator {

SensingProgram::SensingProgram(const Mechanism& mechanism, std::vector<int> axes,
                               std::vector<int> parameters, int motion_parameters)
    : joint_count_(mechanism.joint_count()),
      axes_(std::move(axes)),
      parameters_(std::move(parameters)),
      moving_(motion_parameters),
      constants_(axes_.size()) {
  using Dynamics = TreeInverseDynamics<Expression>;
  ExpressionGraph graph;
  std::vector<SimdProgram::ProgramInput> inputs;
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
  for (const int index : parameters_) values[index] = input(kParameters);
  substitute_dependent_parameters(mechanism, values);
  Dynamics dynamics(mechanism, values);
  Dynamics::VectorX control = Dynamics::VectorX::Constant(joint_count_, Expression(0.0));
  for (int j = 0; j < joint_count_; ++j) {
    if (!mechanism.joints[j].motor.present) continue;
    control[j] = input(kReadings);
    ++control_count_;
  }
  if (depends_on_time(mechanism)) {
    dynamics.set_time(input(kReadings));
    ++control_count_;
  }
  Dynamics::VectorX unused;
  dynamics.torque_residual(motion[0], motion[1], motion[2], control, unused);
  std::vector<std::vector<Expression>> outputs(kSectionCount);
  const int first_load = joint_load_axis(mechanism, 0, JointLoad::kTorque);
  constexpr int kLoads = static_cast<int>(JointLoad::kCount);
  const int first_encoder = encoder_axis(mechanism, 0);
  const std::vector<Encoder> encoders = used_encoders(mechanism);
  for (const int axis : axes_) {
    if (axis < first_load) {
      const auto own = dynamics.sensor_readings(axis / Sensor::kAxes);
      outputs[kReadings].push_back(own[axis % Sensor::kAxes]);
    } else if (axis >= first_encoder) {
      const Encoder& sensor = encoders[axis - first_encoder];
      Expression reading = -values[sensor.offset];
      for (const Encoder::JointTerm& term : sensor.terms) {
        reading += Expression(term.sign) * motion[0][term.joint];
      }
      if (has_harmonics(mechanism, sensor)) {
        reading = add_encoder_harmonics(sensor, values, reading);
      }
      outputs[kReadings].push_back(reading);
    } else {
      const auto own = dynamics.joint_loads((axis - first_load) / kLoads);
      outputs[kReadings].push_back(own[(axis - first_load) % kLoads]);
    }
  }
  const auto along = differentiate(graph, outputs[kReadings], columns);
  for (int axis = 0; axis < axis_count(); ++axis) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const Expression& slope = along[axis][column];
      if (slope.is_constant(0.0)) continue;
      slopes_.push_back(
          {axis, static_cast<int>(column), static_cast<int>(outputs[kSensitivities].size())});
      outputs[kSensitivities].push_back(slope);
    }
  }
  program_ = SimdProgram(graph, inputs, outputs);
  for (SparseEntry& entry : slopes_) entry.row = program_.output_row(kSensitivities, entry.row);
  for (const SparseEntry& entry : slopes_) {
    const int place = entry.column - 3 * joint_count_;
    if (place < moving_ || place >= std::ssize(parameters_)) continue;
    constants_[entry.axis].push_back(place);
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    std::vector<DelayDependency>& sources = delay_sources_.emplace_back();
    const int delay = delay_parameter_of_axis(mechanism, axes_[i]);
    if (delay < 0) continue;
    std::vector<DependencyTerm> terms = {{delay, 1.0}};
    if (const ParameterDependency* tie = find_dependency(mechanism, delay)) {
      terms.insert(terms.end(), tie->terms.begin(), tie->terms.end());
    }
    for (const DependencyTerm& term : terms) {
      const auto found = std::ranges::find(parameters_, term.parameter);
      if (found == parameters_.end()) continue;
      sources.push_back({static_cast<int>(found - parameters_.begin()), term.factor});
      if (sources.back().place >= moving_) constants_[i].push_back(sources.back().place);
    }
    std::ranges::sort(constants_[i]);
    const auto twice = std::ranges::unique(constants_[i]);
    constants_[i].erase(twice.begin(), twice.end());
  }
}

int SensingProgram::derivative_column(int axis, int place, int states) const {
  if (place < moving_) return states + place;
  const std::vector<int>& own = sensor_parameters(axis);
  const auto found = std::ranges::lower_bound(own, place);
  if (found == own.end() || *found != place) return -1;
  return states + moving_ + static_cast<int>(found - own.begin());
}

int delay_parameter_of_axis(const Mechanism& mechanism, int axis) {
  const int sensor = axis / Sensor::kAxes, encoder = axis - encoder_axis(mechanism, 0);
  if (sensor < mechanism.sensor_count()) {
    return mechanism.sensor_parameter_index(sensor, SensorParameter::kDelay);
  }
  if (encoder < 0) return -1;
  return used_encoders(mechanism)[encoder].delay;
}

std::vector<int> free_sensor_parameters(const Mechanism& mechanism) {
  std::vector<int> indices;
  const auto add = [&](int index) {
    for (const DependencyTerm& source : free_dependencies(mechanism, index)) {
      if (affects_motion(mechanism, source.parameter)) continue;
      if (std::ranges::count(indices, source.parameter) > 0) continue;
      indices.push_back(source.parameter);
    }
  };
  for (int i = 0; i < mechanism.sensor_count(); ++i) {
    for (int quantity = 0; quantity < Mechanism::kSensorParameters; ++quantity) {
      add(mechanism.sensor_parameter_index(i, static_cast<SensorParameter>(quantity)));
    }
  }
  for (const Encoder& sensor : used_encoders(mechanism)) {
    if (!has_delay(mechanism, sensor) && !has_harmonics(mechanism, sensor)) continue;
    add(sensor.offset);
    add(sensor.delay);
    for (int i = 0; i < Encoder::kHarmonicAmplitudes; ++i) add(sensor.harmonics + i);
  }
  return indices;
}

}  // namespace estimator

#include "estimator/simulation/tree_program.hpp"

#include <algorithm>
#include <utility>

#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

using Vector = JointVector<Expression>;

/// Inputs of the program, in order.
struct Unknowns {
  Vector angle, rate, acceleration, slip;
  std::vector<Expression> control, control_slope, reaction, parameter;
  std::vector<SimdProgram::ProgramInput> inputs;
};

class Recorder {
 public:
  Recorder(const Mechanism& mechanism, const std::vector<int>& motors,
           const std::vector<int>& parameters, const CoordinateChoice& coordinates, int reactions)
      : motors_(motors), coordinates_(coordinates), n_(mechanism.joint_count()) {
    const bool has_time = depends_on_time(mechanism);
    const std::size_t controls = motors.size() + (has_time ? 1 : 0);
    for (Vector* each : {&x_.angle, &x_.rate, &x_.acceleration, &x_.slip}) each->resize(n_);
    for (int j = 0; j < n_; ++j) x_.angle[j] = input(TreeProgram::kClosure);
    for (int j = 0; j < n_; ++j) x_.rate[j] = input(TreeProgram::kBalance);
    for (int j = 0; j < n_; ++j) x_.acceleration[j] = input(TreeProgram::kLoad);
    for (int j = 0; j < n_; ++j) x_.slip[j] = input(TreeProgram::kBalance);
    for (std::size_t m = 0; m < controls; ++m) {
      x_.control.push_back(input(TreeProgram::kBalance));
    }
    for (std::size_t m = 0; m < controls; ++m) {
      x_.control_slope.push_back(input(TreeProgram::kSensitivities));
    }
    for (int i = 0; i < reactions; ++i) {
      x_.reaction.push_back(input(TreeProgram::kSensitivities));
    }
    std::vector<Expression> values;
    for (const Parameter& parameter : mechanism.parameters) values.emplace_back(parameter.value);
    for (const int index : parameters) {
      x_.parameter.push_back(input(TreeProgram::kParameters));
      values[index] = x_.parameter.back();
    }
    substitute_dependent_parameters(mechanism, values);
    dynamics_ = std::make_unique<TreeInverseDynamics<Expression>>(mechanism, values);
    if (has_time) dynamics_->set_time(x_.control.back());
  }

  ExpressionGraph& graph() { return graph_; }
  const Unknowns& unknowns() const { return x_; }
  bool has_load_dependent_friction() const { return dynamics_->has_load_dependent_friction(); }

  /// Returns the torque imbalance for given accelerations; a later call of `bounds` depends on it.
  Vector imbalance(const Vector& acceleration) {
    Vector control = Vector::Constant(n_, Expression(0.0));
    for (std::size_t m = 0; m < motors_.size(); ++m) control[motors_[m]] = x_.control[m];
    Vector result;
    dynamics_->torque_residual(x_.angle, x_.rate, acceleration, control, result);
    return result;
  }
  /// Returns the violations of the selected loop-closure equations, then the coordinates of all
  /// contact points.
  std::vector<Expression> closures() {
    std::vector<Expression> all, chosen;
    dynamics_->closure_violations(x_.angle, all);
    for (const int row : coordinates_.rows) chosen.push_back(all[row]);
    dynamics_->contact_positions(x_.angle, all);
    chosen.insert(chosen.end(), all.begin(), all.end());
    return chosen;
  }
  /// Returns the given slip direction of a joint, or the smoothed sign of its speed.
  Expression direction(int joint, bool creeps) const {
    return creeps ? dynamics_->smoothed_friction_fraction(joint, x_.rate[joint]) : x_.slip[joint];
  }
  std::vector<Expression> bounds(bool at_rest) const {
    std::vector<Expression> result;
    for (int j = 0; j < n_; ++j) {
      result.push_back(dynamics_->dry_friction_bound(j, at_rest ? Expression(0.0) : x_.rate[j]));
    }
    return result;
  }

 private:
  Expression input(int section) {
    x_.inputs.push_back({graph_.input(), section});
    return x_.inputs.back().expression;
  }

  const std::vector<int>& motors_;
  const CoordinateChoice& coordinates_;
  int n_;
  ExpressionGraph graph_;
  Unknowns x_;
  std::unique_ptr<TreeInverseDynamics<Expression>> dynamics_;
};

std::vector<Expression> list_of(const Vector& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

void append(std::vector<Expression>& to, const std::vector<Expression>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// The loop-closure equations and their first two time derivatives.
struct Closures {
  std::vector<Expression> violation;                 // c
  std::vector<std::vector<Expression>> along_joint;  // G, by columns
  std::vector<Expression> rate;                      // G v
  std::vector<Expression> drift;                     // g
  std::vector<Expression> acceleration;              // G a + g
  std::vector<Expression> reaction;                  // Gᵀ λ, one per joint
};

Closures record_closures(ExpressionGraph& graph, const std::vector<Expression>& violation,
                         const Unknowns& x, const std::vector<bool>& bears_reactions) {
  Closures closures;
  const std::size_t rows = violation.size(), n = static_cast<std::size_t>(x.angle.size());
  closures.violation = violation;
  closures.along_joint.assign(n, std::vector<Expression>(rows, Expression(0.0)));
  closures.rate = closures.drift = std::vector<Expression>(rows, Expression(0.0));
  closures.reaction.assign(n, Expression(0.0));
  const auto slopes = differentiate(graph, violation, list_of(x.angle));
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t j = 0; j < n; ++j) {
      closures.along_joint[j][row] = slopes[row][j];
      closures.rate[row] += slopes[row][j] * x.rate[j];
      if (bears_reactions[j]) closures.reaction[j] += slopes[row][j] * x.reaction[row];
    }
  }
  const auto rate_slopes = differentiate(graph, closures.rate, list_of(x.angle));
  closures.acceleration = closures.drift;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t j = 0; j < n; ++j) {
      closures.drift[row] += rate_slopes[row][j] * x.rate[j];
      closures.acceleration[row] += slopes[row][j] * x.acceleration[j];
    }
    closures.acceleration[row] += closures.drift[row];
  }
  return closures;
}

using DelaySources = std::vector<std::vector<TreeProgram::DelayDependency>>;

/// Returns the nonzero derivatives of equations by motion parameters and, if requested, by joint
/// angles and rates.
std::vector<TreeProgram::SparseEntry> record_slopes(ExpressionGraph& graph,
                                                    const std::vector<Expression>& equations,
                                                    const Unknowns& x,
                                                    const DelaySources& delay_dependencies,
                                                    bool along_angles, bool along_rates,
                                                    std::vector<Expression>& outputs) {
  std::vector<Expression> columns = list_of(x.angle);
  append(columns, list_of(x.rate));
  append(columns, x.parameter);
  const auto along = differentiate(graph, equations, columns);
  const auto along_control = differentiate(graph, equations, x.control);
  const auto n = static_cast<std::size_t>(x.angle.size());
  std::vector<TreeProgram::SparseEntry> entries;
  for (std::size_t at = 0; at < equations.size(); ++at) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const bool is_rate = column >= n && column < 2 * n;
      if ((column < n && !along_angles) || (is_rate && !along_rates)) continue;
      Expression slope = along[at][column];
      const auto place = static_cast<int>(column) - 2 * static_cast<int>(x.angle.size());
      for (std::size_t motor = 0; place >= 0 && motor < delay_dependencies.size(); ++motor) {
        for (const TreeProgram::DelayDependency& source : delay_dependencies[motor]) {
          if (source.place != place) continue;
          slope += Expression(source.factor) * (along_control[at][motor] * x.control_slope[motor]);
        }
      }
      if (slope.is_constant(0.0)) continue;
      entries.push_back(
          {static_cast<int>(at), static_cast<int>(column), static_cast<int>(outputs.size())});
      outputs.push_back(slope);
    }
  }
  return entries;
}

/// Returns the parameter values without the inertia and drag of absent bodies.
Mechanism without(Mechanism mechanism, const std::vector<int>& absent) {
  for (const int body : absent) {
    for (int i = 0; i < Mechanism::kBodyParameters; ++i) {
      mechanism.parameter(body, static_cast<BodyParameter>(i)).value = 0.0;
    }
    const int drag = mechanism.air_drag_parameter_index(body, AirDragParameter::kCoefficient);
    mechanism.parameters[drag].value = 0.0;
  }
  return mechanism;
}

/// Returns the body to which a parameter belongs; −1 if it belongs to none.
int body_of(const Mechanism& mechanism, int parameter) {
  if (parameter < mechanism.joint_parameter_index(0, {}))
    return parameter / Mechanism::kBodyParameters;
  const int of_air = parameter - mechanism.air_drag_parameter_index(0, {});
  return of_air >= 0 && parameter < mechanism.air_drag_parameter_index(mechanism.body_count(), {})
             ? of_air / Mechanism::kAirDragParameters
             : -1;
}

}  // namespace

/// Finds the free parameters that affect the motion and not only sensors.
void TreeProgram::find_motion_parameters(const Mechanism& mechanism) {
  for (int index = 0; index < static_cast<int>(mechanism.parameters.size()); ++index) {
    if (mechanism.at(index).free && affects_motion(mechanism, index)) {
      moving_.push_back(index);
    }
  }
  for (const int joint : motors_) {
    std::vector<DelayDependency>& sources = delay_sources_.emplace_back();
    const int delay = mechanism.joint_parameter_index(joint, JointParameter::kInputDelay);
    for (const DependencyTerm& source : free_dependencies(mechanism, delay)) {
      const auto place = std::ranges::find(moving_, source.parameter);
      sources.push_back({static_cast<int>(place - moving_.begin()), source.factor});
    }
  }
  if (depends_on_time_) delay_sources_.emplace_back();
}

TreeProgram::TreeProgram(const Mechanism& mechanism, CoordinateChoice coordinates)
    : joint_count_(mechanism.joint_count()),
      coordinates_(std::move(coordinates)),
      depends_on_time_(estimator::depends_on_time(mechanism)) {
  const int n = joint_count_;
  for (int j = 0; j < n; ++j) {
    if (mechanism.joints[j].motor.present) motors_.push_back(j);
    dry_.push_back(can_stick(mechanism, j));
    creeps_.push_back(has_dry_friction(mechanism, j) && !dry_.back());
    bears_reactions_.push_back(has_loops() || !mechanism.joints[j].motor.is_prescribed);
  }
  for (int i = 0; i < mechanism.contact_count(); ++i) {
    contact_of_equation_.insert(contact_of_equation_.end(),
                                static_cast<std::size_t>(3 * mechanism.contacts[i].point_count()),
                                i);
  }
  find_motion_parameters(mechanism);

  Recorder recorder(mechanism, motors_, moving_, coordinates_, closure_equation_count());
  ExpressionGraph& graph = recorder.graph();
  const Unknowns& x = recorder.unknowns();
  load_dependent_ = recorder.has_load_dependent_friction();
  const std::vector<Expression> angle = list_of(x.angle), rate = list_of(x.rate),
                                acceleration = list_of(x.acceleration);

  std::vector<std::vector<Expression>> outputs(kSectionCount);
  const Vector at_rest = recorder.imbalance(Vector::Constant(n, Expression(0.0)));
  const std::vector<Expression> bounds_at_rest = recorder.bounds(false);
  const std::vector<Expression> holding_at_rest = recorder.bounds(true);
  Vector residual = recorder.imbalance(x.acceleration);
  const std::vector<Expression> bounds = recorder.bounds(false);
  const std::vector<Expression> holding = recorder.bounds(true);
  outputs[kBalance] = list_of(at_rest);
  for (const std::vector<Expression>& row : differentiate(graph, list_of(residual), acceleration)) {
    append(outputs[kBalance], row);
  }
  const Closures closures = record_closures(graph, recorder.closures(), x, bears_reactions_);
  outputs[kClosure] = closures.violation;
  for (const std::vector<Expression>& column : closures.along_joint) {
    append(outputs[kClosure], column);
  }
  if (load_dependent_) {
    append(outputs[kLoad], bounds);
    append(outputs[kLoad], holding);
    const auto along = differentiate(graph, bounds, acceleration);
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        const Expression& slope = along[j][k];
        if (slope.is_constant(0.0)) continue;
        bound_slopes_.push_back({j, k, static_cast<int>(outputs[kLoad].size())});
        outputs[kLoad].push_back(slope);
      }
    }
  } else {
    append(outputs[kBalance], bounds_at_rest);
    append(outputs[kBalance], holding_at_rest);
  }
  drift_at_ = static_cast<int>(outputs[kBalance].size());
  append(outputs[kBalance], closures.drift);

  std::vector<int> direction_outputs;
  for (int j = 0; j < n; ++j) {
    const Expression direction = recorder.direction(j, creeps_[j]);
    direction_outputs.push_back(static_cast<int>(outputs[kBalance].size()));
    outputs[kBalance].push_back(direction);
    residual[j] += direction * bounds[j] + closures.reaction[j];
  }
  const auto record = [&](const std::vector<Expression>& equations, bool along_angles,
                          bool along_rates) {
    return record_slopes(graph, equations, x, delay_sources_, along_angles, along_rates,
                         outputs[kSensitivities]);
  };
  slopes_ = record(list_of(residual), true, true);
  closure_slopes_[0] = record(closures.violation, false, false);
  closure_slopes_[1] = record(closures.rate, true, false);
  closure_slopes_[2] = record(closures.acceleration, true, true);
  program_ = SimdProgram(graph, x.inputs, outputs);
  for (const int output : direction_outputs) {
    direction_rows_.push_back(program_.output_row(kBalance, output));
  }
  for (SparseEntry& entry : bound_slopes_) entry.row = program_.output_row(kLoad, entry.row);
  for (std::vector<SparseEntry>* list :
       {&slopes_, &closure_slopes_[0], &closure_slopes_[1], &closure_slopes_[2]}) {
    for (SparseEntry& entry : *list) entry.row = program_.output_row(kSensitivities, entry.row);
  }
}

Rows TreeProgram::make_value_rows(const Mechanism& values, int width) const {
  Rows rows(static_cast<std::size_t>(program_.row_count() * width), 0.0);
  program_.fill_constants(rows.data(), width);
  for (int i = 0; i < static_cast<int>(moving_.size()); ++i) {
    std::fill_n(rows.data() + parameter_row(i) * width, width, values.at(moving_[i]).value);
  }
  return rows;
}

std::vector<ControlDelay> undelayed_controls(const TreeProgram& program) {
  std::vector<ControlDelay> controls(static_cast<std::size_t>(program.control_count()));
  if (program.depends_on_time()) controls.back().is_time = true;
  return controls;
}

std::vector<ControlDelay> control_delays(const TreeProgram& program, const Mechanism& values) {
  std::vector<ControlDelay> delays = undelayed_controls(program);
  for (std::size_t motor = 0; motor < program.motor_joints().size(); ++motor) {
    delays[motor] = {
        values.joint_parameter(program.motor_joints()[motor], JointParameter::kInputDelay).value,
        !program.delay_dependencies(static_cast<int>(motor)).empty()};
  }
  return delays;
}

ProgramVariants::ProgramVariants(const Mechanism& mechanism, const CoordinateChoice& coordinates,
                                 const std::vector<std::vector<int>>& absent) {
  for (const std::vector<int>& own : absent) {
    const auto known = std::ranges::find(variants_, own, &ProgramVariant::absent);
    variant_of_.push_back(static_cast<int>(known - variants_.begin()));
    if (known != variants_.end()) continue;
    ProgramVariant variant{
        own, std::make_shared<const TreeProgram>(without(mechanism, own), coordinates), {}};
    const std::vector<int>& motion_parameters = variant.program->motion_parameters();
    for (std::size_t place = 0; place < motion_parameters.size(); ++place) {
      if (std::ranges::find(own, body_of(mechanism, motion_parameters[place])) == own.end())
        continue;
      variant.without_effect.push_back(static_cast<int>(place));
    }
    variants_.push_back(std::move(variant));
  }
}

std::vector<ProgramVariants::IntervalRun> ProgramVariants::runs(const Mechanism& values,
                                                                std::span<const int> groups) const {
  std::vector<IntervalRun> runs;
  for (std::size_t first = 0, last = 0; first < groups.size(); first = last) {
    const ProgramVariant& own = of(groups[first]);
    while (last < groups.size() && &of(groups[last]) == &own) ++last;
    runs.push_back(
        {*own.program, without(values, own.absent), first, last - first, own.without_effect});
  }
  return runs;
}

}  // namespace estimator

#include "estimator/tree/tree_program.hpp"

#include <algorithm>
#include <memory>

namespace estimator {
namespace {

using Vector = JointVector<Expression>;

/// Unknowns of the program, in the order of its inputs.
struct Unknowns {
  Vector angle, rate, acceleration, slip;
  std::vector<Expression> control, control_slope, parameter;
  std::vector<LaneProgram::Input> inputs;
};

class Recorder {
 public:
  Recorder(const Mechanism& mechanism, const std::vector<int>& motors,
           const std::vector<int>& parameters)
      : motors_(motors), n_(mechanism.hinge_count()) {
    for (Vector* each : {&x_.angle, &x_.rate, &x_.acceleration, &x_.slip}) each->resize(n_);
    for (int j = 0; j < n_; ++j) x_.angle[j] = input(TreeProgram::kBalance);
    for (int j = 0; j < n_; ++j) x_.rate[j] = input(TreeProgram::kBalance);
    for (int j = 0; j < n_; ++j) x_.acceleration[j] = input(TreeProgram::kLoad);
    for (int j = 0; j < n_; ++j) x_.slip[j] = input(TreeProgram::kBalance);
    for (std::size_t m = 0; m < motors.size(); ++m) {
      x_.control.push_back(input(TreeProgram::kBalance));
    }
    for (std::size_t m = 0; m < motors.size(); ++m) {
      x_.control_slope.push_back(input(TreeProgram::kSlopes));
    }
    std::vector<Expression> values;
    for (const Parameter& parameter : mechanism.parameters) values.emplace_back(parameter.value);
    for (const int index : parameters) {
      x_.parameter.push_back(input(TreeProgram::kParameters));
      values[static_cast<std::size_t>(index)] = x_.parameter.back();
    }
    dynamics_ = std::make_unique<TreeInverseDynamics<Expression>>(mechanism, values);
  }

  ExpressionGraph& graph() { return graph_; }
  const Unknowns& unknowns() const { return x_; }
  bool is_load_dependent() const { return dynamics_->is_load_dependent(); }

  /// Imbalance for given accelerations; bounds follow from it.
  Vector imbalance(const Vector& acceleration) {
    Vector control = Vector::Constant(n_, Expression(0.0));
    for (std::size_t m = 0; m < motors_.size(); ++m) control[motors_[m]] = x_.control[m];
    Vector result;
    dynamics_->imbalance(x_.angle, x_.rate, acceleration, control, result);
    return result;
  }
  /// The direction in which friction of a joint acts, times −1: as given, or as the speed has it.
  Expression direction(int joint, bool creeps) const {
    return creeps ? dynamics_->creep_share(joint, x_.rate[joint]) : x_.slip[joint];
  }
  std::vector<Expression> bounds(bool at_rest) const {
    std::vector<Expression> result;
    for (int j = 0; j < n_; ++j) {
      result.push_back(dynamics_->dry_bound(j, at_rest ? Expression(0.0) : x_.rate[j]));
    }
    return result;
  }

 private:
  Expression input(int section) {
    x_.inputs.push_back({graph_.input(), section});
    return x_.inputs.back().expression;
  }

  const std::vector<int>& motors_;
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

}  // namespace

TreeProgram::TreeProgram(const Mechanism& mechanism) : joint_count_(mechanism.hinge_count()) {
  const int n = joint_count_;
  for (int j = 0; j < n; ++j) {
    if (mechanism.hinges[static_cast<std::size_t>(j)].motorised) motors_.push_back(j);
    bool dry = false;
    for (const HingeQuantity quantity :
         {HingeQuantity::kCoulombTorque, HingeQuantity::kStribeckTorque,
          HingeQuantity::kLoadFriction, HingeQuantity::kLoadFrictionAngular}) {
      const Parameter& parameter = mechanism.hinge_parameter(j, quantity);
      dry |= parameter.free || parameter.value != 0.0;
    }
    creeps_.push_back(dry && mechanism.hinges[static_cast<std::size_t>(j)].creep_speed > 0.0);
    dry_.push_back(dry && !creeps_.back());
  }
  for (int index = 0; index < static_cast<int>(mechanism.parameters.size()); ++index) {
    if (!mechanism.parameters[static_cast<std::size_t>(index)].free) continue;
    int delay = -1;
    bool is_offset = false;
    for (int j = 0; j < n; ++j) {
      is_offset |= index == mechanism.index_of_hinge(j, HingeQuantity::kEncoderOffset);
      if (index != mechanism.index_of_hinge(j, HingeQuantity::kInputDelay)) continue;
      const auto motor = std::find(motors_.begin(), motors_.end(), j);
      delay = static_cast<int>(motor - motors_.begin());
    }
    if (is_offset) continue;
    moving_.push_back(index);
    motor_of_delay_.push_back(delay);
  }

  Recorder recorder(mechanism, motors_, moving_);
  ExpressionGraph& graph = recorder.graph();
  const Unknowns& x = recorder.unknowns();
  load_dependent_ = recorder.is_load_dependent();
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
  if (load_dependent_) {
    append(outputs[kLoad], bounds);
    append(outputs[kLoad], holding);
    const auto along = differentiate(graph, bounds, acceleration);
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        const Expression& slope = along[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)];
        if (slope.is_constant(0.0)) continue;
        bound_slopes_.push_back({j, k, static_cast<int>(outputs[kLoad].size())});
        outputs[kLoad].push_back(slope);
      }
    }
  } else {
    append(outputs[kBalance], bounds_at_rest);
    append(outputs[kBalance], holding_at_rest);
  }

  std::vector<int> direction_outputs;
  for (int j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const Expression direction = recorder.direction(j, creeps_[at]);
    direction_outputs.push_back(static_cast<int>(outputs[kBalance].size()));
    outputs[kBalance].push_back(direction);
    residual[j] += direction * bounds[at];
  }
  std::vector<Expression> columns = angle;
  append(columns, rate);
  append(columns, x.parameter);
  const auto along = differentiate(graph, list_of(residual), columns);
  const auto along_control = differentiate(graph, list_of(residual), x.control);
  for (int j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      Expression slope = along[at][column];
      const auto place = static_cast<int>(column) - 2 * n;
      const int motor = place < 0 ? -1 : motor_of_delay_[static_cast<std::size_t>(place)];
      if (motor >= 0) {
        slope = along_control[at][static_cast<std::size_t>(motor)] *
                x.control_slope[static_cast<std::size_t>(motor)];
      }
      if (slope.is_constant(0.0)) continue;
      slopes_.push_back({j, static_cast<int>(column), static_cast<int>(outputs[kSlopes].size())});
      outputs[kSlopes].push_back(slope);
    }
  }
  program_ = LaneProgram(graph, x.inputs, outputs);
  for (const int output : direction_outputs) {
    direction_rows_.push_back(program_.output_row(kBalance, output));
  }
  for (Entry& entry : bound_slopes_) entry.row = program_.output_row(kLoad, entry.row);
  for (Entry& entry : slopes_) entry.row = program_.output_row(kSlopes, entry.row);
}

int TreeProgram::delay_direction(int motor) const {
  const auto found = std::ranges::find(motor_of_delay_, motor);
  return 2 * joint_count_ + static_cast<int>(found - motor_of_delay_.begin());
}

}  // namespace estimator

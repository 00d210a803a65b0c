#include "service/rig/code/model_code.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <ranges>
#include <set>
#include <stdexcept>

#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/tree_program.hpp"
#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::JointParameter;
using estimator::Mechanism;
using estimator::Operation;
using estimator::SimdProgram;
using estimator::TreeProgram;

constexpr double kStepMax = 1e-3;  // without friction that requires shorter steps [s]
constexpr std::array kSections = {TreeProgram::kParameters, TreeProgram::kBalance};

/// Throws an error for an element of the rig that the code does not support.
void check_support(const Rig& rig) {
  const Mechanism& mechanism = rig.mechanism;
  const auto refuse = [&](const std::string& joint, const std::string& what) {
    throw proto::InputError(rig.path + ": joint \"" + joint + "\" " + what);
  };
  if (!mechanism.mimic_joints.empty()) {
    refuse(mechanism.joints[mechanism.mimic_joints.front().joint].name,
           "mimics another joint, which model code does not support; use rigcal simulate");
  }
  for (const estimator::Joint& joint : mechanism.joints) {
    if (!joint.is_compound()) continue;
    refuse(compound_name(joint),
           "turns about all axes, which model code does not support; use rigcal simulate");
  }
  const std::vector<std::string> closing = estimator::LoopClosure(mechanism).closing_joint_names();
  if (!closing.empty()) {
    refuse(closing.front(),
           "closes a loop, which model code does not support; use rigcal simulate");
  }
  for (const estimator::JointStop& stop : estimator::joint_end_stops(mechanism)) {
    refuse(mechanism.joints[stop.joint].name,
           "has an end stop, which model code does not support; "
           "if the joint does not reach the stop, remove its stop from the rig file");
  }
  if (estimator::depends_on_time(mechanism)) {
    refuse(mechanism.joints.front().name,
           "or another joint has a drift, which model code does not support; remove the drifts");
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!estimator::has_load_proportional_friction(mechanism, j)) continue;
    refuse(mechanism.joints[j].name,
           "has friction in proportion to the load of its bearing. "
           "Model code does not support this friction; use coulomb_torque, or rigcal simulate");
  }
}

/// Returns a mechanism whose free parameters are those that may become arguments of the code.
Mechanism with_arguments(const Mechanism& rig) {
  Mechanism mechanism = rig;
  for (int i = 0; i < static_cast<int>(mechanism.parameters.size()); ++i) {
    estimator::Parameter& parameter = mechanism.at(i);
    parameter.free = estimator::find_dependency(mechanism, i) == nullptr &&
                     (rig.at(i).free || parameter.value != 0.0);
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    mechanism.joint_parameter(j, JointParameter::kInputDelay).free = false;
  }
  return mechanism;
}

/// Returns a name of letters, digits and underscores.
std::string identifier_of(std::string_view name) {
  std::string identifier;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    identifier += plain ? c : '_';
  }
  return identifier;
}

/// Writes the instructions of a program as statements with a new variable for every result.
class StatementWriter {
 public:
  StatementWriter(const SimdProgram& program, const CodeLanguage& language) : language_(language) {
    for (const SimdProgram::ConstantRow& constant : program.constants()) {
      name_[constant.row] = code_number(constant.value);
    }
  }

  void set_name(int row, const std::string& name) { name_[row] = name; }

  void write_instructions(const std::vector<SimdProgram::Instruction>& instructions) {
    for (const SimdProgram::Instruction& each : instructions) {
      const std::string value = value_of(each);
      const std::string name = "x" + std::to_string(count_++);
      write(std::string(language_.declaration) + name + " = " + value);
      name_[each.out] = name;
    }
  }

  void store(std::string_view result, int index, const std::string& value) {
    write(language_.store(result, index, value));
  }
  const std::string& name_of(int row) const {
    const auto found = name_.find(row);
    if (found == name_.end()) throw std::logic_error("a row of the program has no value");
    return found->second;
  }
  std::string take_text() { return std::move(text_); }

 private:
  void write(const std::string& statement) {
    text_ += std::string(language_.indent) + statement + std::string(language_.end) + "\n";
  }

  std::string value_of(const SimdProgram::Instruction& each) const {
    const auto operand = [&](int row) -> const std::string& { return name_of(row); };
    const auto call = [&](std::string_view function) {
      return std::string(function) + "(" + operand(each.a) + ")";
    };
    const auto infix = [&](const char* sign) {
      return operand(each.a) + " " + sign + " " + operand(each.b);
    };
    switch (each.operation) {
      case Operation::kAdd:
        return infix("+");
      case Operation::kSubtract:
        return infix("-");
      case Operation::kMultiply:
        return infix("*");
      case Operation::kDivide:
        return infix("/");
      case Operation::kMultiplyAdd:
        return infix("*") + " + " + operand(each.c);
      case Operation::kMultiplySubtract:
        return infix("*") + " - " + operand(each.c);
      case Operation::kNegativeMultiplyAdd:
        return operand(each.c) + " - " + infix("*");
      case Operation::kNegate:
        return "-" + operand(each.a);
      case Operation::kSquareRoot:
        return call("sqrt");
      case Operation::kSine:
        return call("sin");
      case Operation::kCosine:
        return call("cos");
      case Operation::kExponential:
        return call("exp");
      case Operation::kMagnitude:
        return call(language_.magnitude);
      case Operation::kSign:
        return language_.choose(operand(each.a) + " < 0.0", "-1.0", "1.0");
      case Operation::kRound:
        return language_.round(operand(each.a));
      case Operation::kSelect:
        return language_.choose(operand(each.a) + " > 0.0", operand(each.b), operand(each.c));
      default:
        throw std::logic_error("an operation of the program has no code");
    }
  }

  const CodeLanguage& language_;
  std::map<int, std::string> name_;  // present value of each row
  std::string text_;
  int count_ = 0;
};

/// The instructions that compute the results, and the rows that they read.
struct UsedInstructions {
  std::vector<SimdProgram::Instruction> instructions;
  std::set<int> inputs;
};

UsedInstructions find_used_instructions(const TreeProgram& program) {
  UsedInstructions used;
  const int n = program.joint_count();
  for (int j = 0; j < n; ++j) {
    used.inputs.insert({program.bias_torque_row(j), program.friction_bound_row(j),
                        program.holding_friction_bound_row(j), program.slip_direction_row(j)});
    for (int k = 0; k < n; ++k) used.inputs.insert(program.mass_matrix_row(j, k));
  }
  for (const int section : std::views::reverse(kSections)) {
    for (const auto& each : std::views::reverse(program.program().instructions(section))) {
      if (used.inputs.erase(each.out) == 0) continue;
      used.inputs.insert({each.a, each.b, each.c});
      used.instructions.push_back(each);
    }
  }
  std::ranges::reverse(used.instructions);
  return used;
}

void list_parameters(const TreeProgram& program, const Mechanism& mechanism,
                     const std::set<int>& read, ModelCode& code, StatementWriter& writer) {
  std::set<std::string> used;
  for (std::size_t place = 0; place < program.motion_parameters().size(); ++place) {
    const estimator::Parameter& parameter = mechanism.at(program.motion_parameters()[place]);
    const int row = program.parameter_row(static_cast<int>(place));
    writer.set_name(row, code_number(parameter.value));  // if an output is a parameter
    if (!read.contains(row)) continue;
    writer.set_name(row, fmt::format("p[{}]", code.parameters.size()));
    std::string identifier = identifier_of(parameter.name);
    while (!used.insert(identifier).second) identifier += "_";
    code.parameters.push_back({parameter.name, identifier, parameter.unit, parameter.value});
  }
}

void list_joints(const TreeProgram& program, const Rig& rig, ModelCode& code,
                 StatementWriter& writer) {
  const Mechanism& mechanism = rig.mechanism;
  for (int j = 0; j < program.joint_count(); ++j) {
    const std::string index = "[" + std::to_string(j) + "]";
    writer.set_name(program.angle_row(j), "q" + index);
    writer.set_name(program.rate_row(j), "v" + index);
    code.joints.push_back({mechanism.joints[j].name, mechanism.joints[j].units().coordinate,
                           program.has_holding_friction(j)});
  }
  for (std::size_t motor = 0; motor < program.motor_joints().size(); ++motor) {
    const int joint = program.motor_joints()[motor];
    writer.set_name(program.control_row(static_cast<int>(motor)),
                    "u[" + std::to_string(motor) + "]");
    code.commands.push_back({mechanism.joints[joint].name,
                             rig.joint_properties[static_cast<std::size_t>(joint)].control_unit,
                             mechanism.joint_parameter(joint, JointParameter::kInputDelay).value});
  }
}

/// Writes the results of the program. The torque of a joint with smoothed friction is continuous,
/// so that it is part of the bias.
void write_results(const TreeProgram& program, const Mechanism& mechanism,
                   StatementWriter& writer) {
  const int n = program.joint_count();
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) {
      writer.store("mass", j * n + k, writer.name_of(program.mass_matrix_row(j, k)));
    }
    std::string bias = writer.name_of(program.bias_torque_row(j)), bound = "0.0", holding = "0.0";
    if (program.has_holding_friction(j)) {
      bound = writer.name_of(program.friction_bound_row(j));
      holding = writer.name_of(program.holding_friction_bound_row(j));
    } else if (estimator::has_dry_friction(mechanism, j)) {
      bias = fmt::format("{} + {} * {}", bias, writer.name_of(program.slip_direction_row(j)),
                         writer.name_of(program.friction_bound_row(j)));
    }
    writer.store("bias", j, bias);
    writer.store("bound", j, bound);
    writer.store("holding", j, holding);
  }
}

double longest_step(const Rig& rig) {
  const Eigen::MatrixXd at_rest = Eigen::MatrixXd::Zero(2 * rig.mechanism.joint_count(), 1);
  try {
    const estimator::FrictionStepLimits limits =
        estimator::compute_friction_step_limits(rig.mechanism, {at_rest});
    return std::min({kStepMax, limits.everywhere, limits.near_rest});
  } catch (const std::invalid_argument& too_steep) {
    throw proto::InputError(rig.path + ": " + too_steep.what());
  }
}

}  // namespace

ModelCode generate_model_code(const Rig& rig, const CodeLanguage& language) {
  check_support(rig);
  ModelCode code;
  code.name = identifier_of(rig.mechanism.name);
  if (code.name.empty() || std::isdigit(static_cast<unsigned char>(code.name[0])) != 0) {
    code.name = "rig_" + code.name;
  }
  code.step_max = longest_step(rig);
  const Mechanism mechanism = with_arguments(rig.mechanism);
  const TreeProgram program(mechanism);
  StatementWriter writer(program.program(), language);
  const UsedInstructions used = find_used_instructions(program);
  list_parameters(program, mechanism, used.inputs, code, writer);
  list_joints(program, rig, code, writer);
  writer.write_instructions(used.instructions);
  write_results(program, mechanism, writer);
  code.statements = writer.take_text();
  return code;
}

std::string describe_joints(const ModelCode& code, std::string_view prefix) {
  std::string text;
  for (std::size_t j = 0; j < code.joints.size(); ++j) {
    const ModelJoint& joint = code.joints[j];
    text += std::string(prefix) + std::to_string(j) + "  " + joint.name + " [" + joint.unit + "]\n";
  }
  return text;
}

std::string describe_commands(const ModelCode& code, std::string_view prefix) {
  std::string text;
  for (std::size_t m = 0; m < code.commands.size(); ++m) {
    const ModelCommand& command = code.commands[m];
    text += std::string(prefix) + std::to_string(m) + "  motor of joint " + command.joint + " [" +
            command.unit + "], delay " + format_number(command.delay) + " s\n";
  }
  return text.empty() ? std::string(prefix) + "none\n" : text;
}

std::string code_number(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  std::string text(digits.data(), end.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return value < 0.0 ? "(" + text + ")" : text;
}

std::string code_string(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c == '\n' || c == '\r' ? ' ' : c;
  }
  return literal + "\"";
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string fill_template(std::string text,
                          const std::vector<std::pair<std::string, std::string>>& parts) {
  for (const auto& [name, part] : parts)
    text = replace_all(std::move(text), "@" + name + "@", part);
  return text;
}

std::string join_code(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace service

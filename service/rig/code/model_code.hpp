#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// A parameter of a generated model.
struct ModelParameter {
  std::string name;        ///< name in the rig file, such as "1.tau_c"
  std::string identifier;  ///< unique name for programming languages, such as "1_tau_c"
  std::string unit;
  double value = 0.0;
};

/// A command of a generated model.
struct ModelCommand {
  std::string joint;  ///< name of the driven joint
  std::string unit;
  double delay = 0.0;  ///< time from the command to its effect [s]
};

/// A joint of a generated model.
struct ModelJoint {
  std::string name;
  std::string unit;  ///< unit of the coordinate, "rad"
  bool dry = false;  ///< whether dry friction can hold the joint at rest
};

/// Syntax with which a programming language writes a list of expressions.
struct CodeLanguage {
  std::string_view indent;       ///< of a statement
  std::string_view declaration;  ///< text before the name of a new variable, "const double "
  std::string_view end;          ///< end of a statement, ";"
  std::string_view magnitude;    ///< function |a|
  /// Writes "yes if condition, else no", where the condition is a comparison with zero.
  std::function<std::string(const std::string&, const std::string&, const std::string&)> choose;
  std::function<std::string(const std::string&)> round;  ///< nearest integer
  /// Writes an assignment to an element of a result array: "mass", "bias", "bound" or "holding".
  std::function<std::string(std::string_view, int, const std::string&)> store;
};

/// Equations of motion of a rig as source code. With angles q, speeds v, commands u and parameters
/// p, they are
///
///   M(q) a + h(q, v, u) + s B(v) = 0,
///
/// with the direction of slip s and the bound B of the dry friction of each joint.
struct ModelCode {
  std::string name;  ///< rig's name as an identifier
  std::vector<ModelJoint> joints;
  std::vector<ModelCommand> commands;
  std::vector<ModelParameter> parameters;  ///< those that affect the motion; others are constants
  double step_max = 0.0;                   ///< longest integration step [s]
  std::string statements;  ///< compute mass (M), bias (h), bound (B) and holding (B at rest)
};

/// Returns the equations of motion of a rig without loops as source code. Its parameters are all
/// independent parameters that affect the motion and are free or not zero.
/// @throws proto::InputError that names the joint, for elements that the code does not support:
///         loops, mimic joints, end stops, friction proportional to a bearing's load, and friction
///         that requires steps below 20 µs
ModelCode generate_model_code(const Rig& rig, const CodeLanguage& language);

/// Returns the equations of motion of a rig as statements in C.
ModelCode generate_c_code(const Rig& rig);

/// Returns C source from its template, with the equations of motion.
/// @param remarks  lines for the comment at the top
std::string fill_c_template(std::string text, const Rig& rig, const ModelCode& code,
                            const std::vector<std::string>& remarks);

/// Return the lines of a comment: one line for each joint, or one line for each command.
/// @param prefix  text at the start of each line
std::string describe_joints(const ModelCode& code, std::string_view prefix);
std::string describe_commands(const ModelCode& code, std::string_view prefix);

/// Returns a number with all digits, as C and Python read it.
std::string code_number(double value);

/// Returns a text as a string literal of C and Python.
std::string code_string(std::string_view text);

/// Returns `text` with every occurrence of `from` replaced.
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Returns a template with each "@name@" replaced by its text.
std::string fill_template(std::string text,
                          const std::vector<std::pair<std::string, std::string>>& parts);

/// Returns a list of texts, separated by commas.
std::string join_code(const std::vector<std::string>& parts);

// Files of generated code (model.c.in, fmu.c.in, casadi_model.py.in).
extern const char* const kModelTemplate;
extern const char* const kFmuTemplate;
extern const char* const kCasadiTemplate;

}  // namespace service

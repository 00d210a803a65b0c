#include "service/rig/code/model_export.hpp"

#include <filesystem>

#include "proto/text/files.hpp"
#include "service/rig/code/model_code.hpp"

namespace service {
namespace {

using std::string;

CodeLanguage c_language() {
  return {.indent = "  ",
          .declaration = "const double ",
          .end = ";",
          .magnitude = "fabs",
          .choose = [](const string& condition, const string& yes,
                       const string& no) { return "(" + condition + ") ? " + yes + " : " + no; },
          .round = [](const string& value) { return "nearbyint(" + value + ")"; },
          .store =
              [](std::string_view result, int index, const string& value) {
                return "t->" + string(result) + "[" + std::to_string(index) + "] = " + value;
              }};
}

CodeLanguage casadi_language() {
  return {.indent = "    ",
          .declaration = "",
          .end = "",
          .magnitude = "fabs",
          .choose =
              [](const string& condition, const string& yes, const string& no) {
                return "if_else(" + condition + ", " + yes + ", " + no + ")";
              },
          .round = [](const string& value) { return "floor(" + value + " + 0.5)"; },
          .store =
              [](std::string_view result, int index, const string& value) {
                return string(result) + "[" + std::to_string(index) + "] = " + value;
              }};
}

string upper_case(string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// Returns lines of a comment, which must not end it.
string comment_lines(const std::vector<string>& lines, std::string_view prefix) {
  string text;
  for (const string& line : lines) text += string(prefix) + line + "\n";
  return text;
}

string safe_in_c_comment(const string& text) { return replace_all(text, "*/", "* /"); }

string safe_in_docstring(const string& text) {
  return replace_all(replace_all(text, "\\", "/"), "\"\"\"", "'''");
}

string code_list(const std::vector<ModelJoint>& joints) {
  std::vector<string> names;
  for (const ModelJoint& joint : joints) names.push_back(code_string(joint.name));
  return "[" + join_code(names) + "]";
}

}  // namespace

ModelCode generate_c_code(const Rig& rig) { return generate_model_code(rig, c_language()); }

string fill_c_template(string text, const Rig& rig, const ModelCode& code,
                       const std::vector<string>& remarks) {
  string indices, names, values, delays;
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const ModelParameter& parameter = code.parameters[i];
    const string name = "MODEL_PARAMETER_" + parameter.identifier;
    indices += "  " + name + " = " + std::to_string(i) + ",\n";
    names += "    " + code_string(parameter.name) + ",\n";
    values += "    " + code_number(parameter.value) + ", /* " +
              safe_in_c_comment(parameter.name + " [" + parameter.unit) + "] */\n";
  }
  for (const ModelCommand& command : code.commands) delays += code_number(command.delay) + ", ";
  std::vector<string> dry;
  for (const ModelJoint& joint : code.joints) dry.emplace_back(joint.dry ? "1" : "0");
  text = replace_all(std::move(text), "model_", code.name + "_");
  text = replace_all(std::move(text), "MODEL_", upper_case(code.name) + "_");
  indices = replace_all(std::move(indices), "MODEL_", upper_case(code.name) + "_");
  return fill_template(text, {{"title", safe_in_c_comment("\"" + rig.mechanism.name + "\"")},
                              {"remarks", safe_in_c_comment(comment_lines(remarks, " * "))},
                              {"joints", safe_in_c_comment(describe_joints(code, " *   "))},
                              {"commands", safe_in_c_comment(describe_commands(code, " *   "))},
                              {"joint_count", std::to_string(code.joints.size())},
                              {"command_count", std::to_string(code.commands.size())},
                              {"parameter_count", std::to_string(code.parameters.size())},
                              {"indices", indices},
                              {"names", names},
                              {"values", values},
                              {"delays", delays},
                              {"step_max", code_number(code.step_max)},
                              {"dry", join_code(dry)},
                              {"statements", code.statements}});
}

string format_c_model(const Rig& rig, const std::vector<string>& remarks) {
  return fill_c_template(kModelTemplate, rig, generate_c_code(rig), remarks);
}

string format_casadi_model(const Rig& rig, const std::vector<string>& remarks) {
  const ModelCode code = generate_model_code(rig, casadi_language());
  std::vector<string> commands, delays;
  for (const ModelCommand& command : code.commands) {
    commands.push_back(code_string(command.joint));
    delays.push_back(code_number(command.delay));
  }
  string values;
  for (const ModelParameter& parameter : code.parameters) {
    values += "    " + code_string(parameter.name) + ": " + code_number(parameter.value) + ",  # " +
              parameter.unit + "\n";
  }
  return fill_template(kCasadiTemplate,
                       {{"title", safe_in_docstring("'" + rig.mechanism.name + "'")},
                        {"remarks", safe_in_docstring(comment_lines(remarks, ""))},
                        {"joints", safe_in_docstring(describe_joints(code, "  "))},
                        {"commands", safe_in_docstring(describe_commands(code, "  "))},
                        {"joint_names", code_list(code.joints)},
                        {"command_names", "[" + join_code(commands) + "]"},
                        {"delays", "[" + join_code(delays) + "]"},
                        {"values", values},
                        {"statements", code.statements}});
}

bool is_model_file(const string& path) {
  const string extension = std::filesystem::path(path).extension().string();
  return extension == ".c" || extension == ".fmu" || extension == ".py";
}

std::vector<string> write_model(const string& path, const Rig& rig,
                                const std::vector<string>& remarks) {
  const string extension = std::filesystem::path(path).extension().string();
  if (extension == ".c") {
    proto::write_file(path, format_c_model(rig, remarks));
    return {};
  }
  if (extension == ".py") {
    proto::write_file(path, format_casadi_model(rig, remarks));
    return {};
  }
  const Fmu fmu = make_fmu(rig, remarks);
  proto::write_file(path, make_zip(fmu.files));
  if (fmu.note.empty()) return {};
  return {fmu.note};
}

}  // namespace service

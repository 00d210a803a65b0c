#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "proto/text/command_line/other_program.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/temporary_folder.hpp"
#include "service/rig/code/model_code.hpp"
#include "service/rig/code/model_export.hpp"
#include "service/text/svg_elements.hpp"

namespace service {
namespace {

#if defined(__linux__) && defined(__x86_64__)
constexpr bool kHasBinaryFolder = true;
#else
constexpr bool kHasBinaryFolder = false;
#endif

/// Returns a 64-bit FNV-1a hash as hexadecimal digits.
std::string hash_digits(const std::string& text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::string digits;
  for (int i = 60; i >= 0; i -= 4) digits += "0123456789abcdef"[hash >> i & 0xf];
  return digits;
}

/// Returns the identifier that ties the description to the source.
std::string make_guid(const std::string& source) {
  const std::string digits =
      hash_digits(source, 0xcbf29ce484222325u) + hash_digits(source, 0x84222325cbf29ce4u);
  return "{" + digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" + digits.substr(12, 4) + "-" +
         digits.substr(16, 4) + "-" + digits.substr(20) + "}";
}

/// A real variable of modelDescription.xml. Its value reference is its place in the list.
struct FmuVariable {
  std::string name, description, causality, variability, unit;
  double start = 0.0;
  bool has_initial = false;  ///< whether the start value can be set although it is an output
};

std::vector<FmuVariable> list_variables(const ModelCode& code) {
  std::vector<FmuVariable> variables;
  for (const ModelJoint& joint : code.joints) {
    variables.push_back({joint.name + "." + (joint.unit == "m" ? "position" : "angle"),
                         "Coordinate of joint " + joint.name, "output", "continuous", joint.unit,
                         0.0, true});
  }
  for (const ModelJoint& joint : code.joints) {
    variables.push_back({joint.name + ".speed", "Speed of joint " + joint.name, "output",
                         "continuous", joint.unit + "/s", 0.0, true});
  }
  for (const ModelCommand& command : code.commands) {
    variables.push_back({command.joint + ".command",
                         "Command of the motor of joint " + command.joint, "input", "discrete",
                         command.unit});
  }
  for (const ModelCommand& command : code.commands) {
    variables.push_back({command.joint + ".command_delay", "Time until the command acts",
                         "parameter", "fixed", "s", command.delay});
  }
  for (const ModelParameter& parameter : code.parameters) {
    variables.push_back({"parameter." + parameter.name, "", "parameter", "tunable", parameter.unit,
                         parameter.value});
  }
  return variables;
}

std::string attribute(const std::string& name, const std::string& value) {
  return value.empty() ? "" : " " + name + "=\"" + escape_html(value) + "\"";
}

std::string plain_number(double value) {
  std::string text = code_number(value);
  return text.front() == '(' ? text.substr(1, text.size() - 2) : text;
}

std::string format_description(const Rig& rig, const ModelCode& code, const std::string& guid,
                               const std::vector<std::string>& remarks) {
  const std::vector<FmuVariable> variables = list_variables(code);
  std::vector<std::string> units;
  std::string list, outputs;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const FmuVariable& variable = variables[i];
    if (!variable.unit.empty() && std::ranges::find(units, variable.unit) == units.end()) {
      units.push_back(variable.unit);
    }
    list += "    <ScalarVariable" + attribute("name", variable.name) +
            attribute("valueReference", std::to_string(i)) +
            attribute("description", variable.description) +
            attribute("causality", variable.causality) +
            attribute("variability", variable.variability) +
            attribute("initial", variable.has_initial ? "exact" : "") + ">\n      <Real" +
            attribute("unit", variable.unit) + attribute("start", plain_number(variable.start)) +
            "/>\n    </ScalarVariable>\n";
    if (variable.causality == "output") {
      outputs += "      <Unknown" + attribute("index", std::to_string(i + 1)) + "/>\n";
    }
  }
  std::string unit_list, description;
  for (const std::string& unit : units) unit_list += "    <Unit" + attribute("name", unit) + "/>\n";
  for (const std::string& remark : remarks)
    description += (description.empty() ? "" : "; ") + remark;
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"2.0\"" +
         attribute("modelName", rig.mechanism.name.empty() ? code.name : rig.mechanism.name) +
         attribute("guid", guid) + attribute("description", description) +
         " generationTool=\"rigcal\" variableNamingConvention=\"flat\" "
         "numberOfEventIndicators=\"0\">\n  <CoSimulation" +
         attribute("modelIdentifier", code.name) +
         " canHandleVariableCommunicationStepSize=\"true\" canGetAndSetFMUstate=\"true\" "
         "canSerializeFMUstate=\"true\" canNotUseMemoryManagementFunctions=\"true\">\n"
         "    <SourceFiles>\n      <File" +
         attribute("name", code.name + ".c") + "/>\n    </SourceFiles>\n  </CoSimulation>\n" +
         (units.empty() ? "" : "  <UnitDefinitions>\n" + unit_list + "  </UnitDefinitions>\n") +
         "  <DefaultExperiment stepSize=\"0.001\"/>\n  <ModelVariables>\n" + list +
         "  </ModelVariables>\n  <ModelStructure>\n    <Outputs>\n" + outputs +
         "    </Outputs>\n  </ModelStructure>\n</fmiModelDescription>\n";
}

/// Compiles C source to a shared library. Returns its contents; empty if there is no compiler or it
/// fails.
std::string compile_library(const std::string& source) {
  const proto::TemporaryFolder folder;
  const std::string input = folder.file("fmu.c"), output = folder.file("fmu.so");
  proto::write_file(input, source);
  const char* const chosen = std::getenv("CC");
  const std::vector<std::string> command = {chosen != nullptr && *chosen != '\0' ? chosen : "cc",
                                            "-std=c99",
                                            "-O2",
                                            "-ffp-contract=off",
                                            "-fPIC",
                                            "-fvisibility=hidden",
                                            "-shared",
                                            "-o",
                                            output,
                                            input,
                                            "-lm"};
  try {
    if (proto::run_program(
            command, [] { return false; }, folder.file("log")) != 0)
      return {};
  } catch (const proto::InputError&) {
    return {};  // there is no compiler
  }
  return proto::read_file(output);
}

}  // namespace

Fmu make_fmu(const Rig& rig, const std::vector<std::string>& remarks) {
  const ModelCode code = generate_c_code(rig);
  std::string source =
      fill_c_template(std::string(kModelTemplate) + kFmuTemplate, rig, code, remarks);
  const std::string guid = make_guid(source);
  source = fill_template(std::move(source), {{"guid", guid}});
  Fmu fmu{{{"modelDescription.xml", format_description(rig, code, guid, remarks)},
           {"sources/" + code.name + ".c", source}},
          {}};
  if (!kHasBinaryFolder) {
    fmu.note =
        "FMI 2.0 defines no folder for binaries of this processor: "
        "the FMU contains only the C source; "
        "compile it with fmpy compile on a Linux computer with an x86-64 processor";
    return fmu;
  }
  const std::string binary = compile_library(source);
  if (binary.empty()) {
    fmu.note =
        "no C compiler works (environment variable CC, else cc): "
        "the FMU contains the C source, but no binary; "
        "install gcc, or compile the FMU with fmpy compile";
  } else {
    fmu.files.push_back({"binaries/linux64/" + code.name + ".so", binary});
  }
  return fmu;
}

}  // namespace service

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <string>

#include "proto/text/input_error.hpp"
#include "service/python/python_input.hpp"
#include "service/result/calibrated_rig_file.hpp"
#include "service/result/stored_result.hpp"
#include "service/rig/robot/robot.hpp"

namespace service {
namespace {

namespace py = pybind11;
using namespace pybind11::literals;

/// Largest difference between a value and the value read back from a rig file, relative: points
/// are stored from other origins, and angles in degrees.
constexpr double kRoundOff = 1e-9;

/// Returns the text of a file that describes the calibrated rig, and notes for the user.
/// @param result  JSON of a calibration
/// @param format  "rig", "urdf" or "mjcf"
/// @param priors  whether the rig file has the estimates as priors
py::tuple calibrated_rig_text(const std::string& result, const std::string& format, bool priors) {
  const StoredResult stored = parse_stored_result("the result", result);
  CalibratedRigText rig =
      write_calibrated_rig(stored.rig_name, stored.rig_text, stored.rig,
                           priors ? PriorChange::kFromEstimates : PriorChange::kUnchanged);
  if (format == "rig") return py::make_tuple(rig.text, rig.notes);
  const Robot robot = convert_rig_to_robot(parse_rig(stored.rig_name, rig.text));
  const std::vector<std::string> remarks = describe_estimates(stored.rig, "");
  const RobotFileText file =
      format == "urdf" ? format_urdf(robot, remarks) : format_mjcf(robot, remarks);
  return py::make_tuple(file.text, file.notes);
}

/// Returns the text of a request's rig file with the values that the Python program gave.
/// @throws proto::InputError for a value that a rig file cannot have
std::string rig_text_with_values(const PythonRequest& program) {
  const CalibrationRequest& request = program.request;
  const Rig wanted = edited_rig(request);
  const Rig file = parse_rig(request.rig_name, request.rig_text);
  CalibratedParameters values;
  for (std::size_t i = 0; i < wanted.mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = wanted.mechanism.parameters[i];
    const bool depends =
        estimator::find_dependency(wanted.mechanism, static_cast<int>(i)) != nullptr;
    if (!depends && parameter.value != file.mechanism.parameters[i].value) {
      values.kept.push_back(parameter);
    }
  }
  const CalibratedRigText written =
      write_calibrated_rig(request.rig_name, request.rig_text, values, PriorChange::kUnchanged);
  const Rig result = parse_rig(request.rig_name, written.text);
  for (const estimator::Parameter& parameter : values.kept) {
    const int index = result.mechanism.find_parameter(parameter.name);
    const double read = index < 0 ? std::nan("") : result.mechanism.at(index).value;
    if (std::abs(read - parameter.value) <= kRoundOff * std::abs(parameter.value)) continue;
    throw proto::InputError(
        "{}: parameter {:?} cannot have its value in a rig file; set the value in the rig file{}",
        request.rig_name, parameter.name,
        written.notes.empty() ? "" : " (" + written.notes.front() + ")");
  }
  return written.text;
}

}  // namespace

void bind_rig_texts(py::module_& module) {
  module.def("calibrated_rig_text", &calibrated_rig_text, "result"_a, "format"_a, "priors"_a);
  module.def("rig_text_with_values", &rig_text_with_values, "request"_a);
}

}  // namespace service

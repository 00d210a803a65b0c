#include "service/python/python_input.hpp"

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "estimator/model/encoder.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/spelling_suggestions.hpp"
#include "service/options/option_texts.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"

namespace service {
namespace {

namespace py = pybind11;
using namespace pybind11::literals;
using estimator::OptionRow;
using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

void add_recording(PythonRequest& program, const std::string& name, double from, double to,
                   const std::vector<int>& segments, const py::dict& columns) {
  program.request.recordings.push_back({.path = name, .selection = {from, to, segments}});
  if (columns.empty()) return;
  std::vector<NamedColumn>& table = program.tables[name];
  for (const auto& [column, cells] : columns) {  // in the order of the table's columns
    const auto values = py::cast<Numbers>(cells);
    table.push_back(
        {py::cast<std::string>(column), {values.data(), values.data() + values.size()}});
  }
}

using Texts = std::vector<std::string>;

void set_edits(PythonRequest& program, const Texts& start, const Texts& free, const Texts& fix,
               const Texts& hold_out) {
  program.request.edits = {start, free, fix, hold_out, /*from_python=*/true};
}

void set_values(PythonRequest& program, const std::string& file,
                const std::vector<std::tuple<std::string, std::string, double>>& entries,
                const std::string& kind, double step, double state_error_weight) {
  ParameterValues& values = program.request.values;
  values.file = file;
  for (const auto& [name, unit, value] : entries) {
    values.entries.push_back({"parameter \"" + name + "\"", name, unit, value});
  }
  values.kind = parse_estimate_kind(kind);
  values.step = step;
  values.state_error_weight = state_error_weight;
}

py::list parameters_of(const Rig& rig) {
  py::list list;
  const estimator::Mechanism& mechanism = rig.mechanism;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = mechanism.parameters[i];
    const bool tied = estimator::find_dependency(mechanism, static_cast<int>(i)) != nullptr;
    list.append(py::dict("name"_a = parameter.name, "value"_a = parameter.value,
                         "unit"_a = parameter.unit, "free"_a = parameter.free, "dependent"_a = tied,
                         "lower"_a = parameter.lower, "upper"_a = parameter.upper,
                         "prior_mean"_a = parameter.prior_mean,
                         "prior_standard_deviation"_a = parameter.prior_standard_deviation));
  }
  return list;
}

/// Returns the names of the recording columns that the rig file defines.
std::vector<std::string> list_column_names(const Rig& rig) {
  std::vector<std::string> names;
  if (!rig.format) return names;
  for (const proto::ColumnRequest& column : make_column_requests(*rig.format)) {
    names.push_back(column.name);
  }
  return names;
}

/// Returns the name of the time column and its unit [s]; an empty name if there is none.
py::tuple time_column_of(const Rig& rig) {
  if (!rig.format) return py::make_tuple("", 1.0);
  return py::make_tuple(rig.format->time_column, rig.format->time_scale);
}

std::vector<std::string> sensor_names(const Rig& rig) {
  std::vector<std::string> names;
  for (const auto& sensor : estimator::all_encoders(rig.mechanism)) names.push_back(sensor.name);
  return names;
}

/// Returns the name and the unit of each joint's coordinate.
py::list joints_of(const Rig& rig) {
  py::list list;
  for (const estimator::Joint& joint : rig.mechanism.joints) {
    list.append(py::make_tuple(joint.name, std::string(joint.units().coordinate)));
  }
  return list;
}

std::vector<std::string> motor_names(const Rig& rig) {
  std::vector<std::string> names;
  for (const estimator::Joint& joint : rig.mechanism.joints) {
    if (joint.motor.present) names.push_back(joint.name);
  }
  return names;
}

py::dict load_recording(const PythonRequest& program) {
  const CalibrationInput input = program.load();
  const UsedRecording& use = input.context.recordings.front();
  py::list segments;
  for (const estimator::Segment& segment : input.recordings.front().segments) {
    Eigen::VectorXd time(segment.sample_count());
    for (Eigen::Index k = 0; k < time.size(); ++k) time(k) = segment.start + segment.time(k);
    segments.append(
        py::dict("time"_a = time, "readings"_a = segment.angles, "control"_a = segment.controls));
  }
  std::vector<std::string> sensors, units;
  for (const auto& sensor : estimator::used_encoders(input.rig.mechanism)) {
    sensors.push_back(sensor.name);
    units.push_back(sensor.units().coordinate);
  }
  return py::dict("name"_a = use.summary.file, "rows"_a = use.summary.rows,
                  "period"_a = use.summary.period, "segments"_a = segments, "sensors"_a = sensors,
                  "units"_a = units, "motors"_a = motor_names(input.rig),
                  "notes"_a = describe_import(use.summary));
}

py::dict run_simulation(const PythonRequest& program, const std::string& scenario_name,
                        const std::string& scenario_text, double step) {
  std::string csv;
  SimulatedRun run;
  {
    const py::gil_scoped_release solving;
    const Rig rig = edited_rig(program.request);
    run = simulate(rig, parse_scenario(scenario_name, scenario_text, rig), step);
    csv = simulation_csv(rig, run);
  }
  return py::dict("csv"_a = csv, "notes"_a = run.notes, "period"_a = run.period,
                  "step"_a = run.step);
}

const OptionRow& option_of(const std::string& argument) {
  std::vector<std::string> names;
  for (const OptionRow& row : estimator::kOptionRows) {
    if (python_argument_name(row) == argument) return row;
    if (!find_option_help(row).empty()) names.push_back(python_argument_name(row));
  }
  throw py::type_error("unexpected argument '" + argument + "'" +
                       proto::suggest_spelling(argument, names));
}

/// Returns the text of an option for the value of its argument; empty if it is no number or word.
std::string text_of(const OptionRow& row, const py::object& argument) {
  if (row.is_flag()) {
    const bool is_given = row.name.starts_with("no-") != static_cast<bool>(py::bool_(argument));
    return is_given != (format_option(row, {}) == "true") ? "true" : "false";
  }
  if (py::isinstance<py::str>(argument)) return argument.cast<std::string>();
  try {
    return py::repr(py::float_(argument));
  } catch (const py::error_already_set&) {
    return "";
  }
}

void set_argument(PythonRequest& program, const std::string& name, const py::object& value) {
  const OptionRow& row = option_of(name);
  if (set_option(row, text_of(row, value), program.request.options)) return;
  const py::object text = py::module_::import("rigcal.errors").attr("format_argument")(value);
  throw proto::InputError(name + " is " + text.cast<std::string>() + "; give " +
                          describe_option_values(row));
}

py::list option_table() {
  py::list table;
  for (const OptionRow& row : estimator::kOptionRows) {
    if (find_option_help(row).empty()) continue;
    table.append(py::make_tuple(python_argument_name(row), describe_option_values(row),
                                std::string(find_option_help(row))));
  }
  return table;
}

}  // namespace

Rig edited_rig(const CalibrationRequest& request) {
  Rig rig = parse_rig(request.rig_name, request.rig_text);
  apply_parameter_values(request.values, rig.mechanism);
  apply_parameter_edits(request.edits, rig.mechanism);
  return rig;
}

ImportedRecording PythonRequest::read(const RecordingSource& source, const Rig& rig) const {
  const auto table = tables.find(source.path);
  if (table == tables.end()) return import_recording(source.path, rig, source.selection);
  if (rig.format) {
    return import_columns_in_memory(source.path, table->second, *rig.format,
                                    source.selection.window());
  }
  throw proto::InputError(
      "{}: has no recording {{ }}, which defines the columns; add it to the rig file", rig.path);
}

CalibrationInput PythonRequest::load() const {
  return load_calibration_input(
      request, [this](const RecordingSource& source, const Rig& rig) { return read(source, rig); });
}

void bind_input_types(py::module_& module) {
  module.def("option_table", &option_table);
  py::class_<Rig>(module, "Rig")
      .def(py::init(&parse_rig), "name"_a, "text"_a)
      .def_property_readonly("name", [](const Rig& rig) { return rig.mechanism.name; })
      .def_property_readonly("parameters", &parameters_of)
      .def_property_readonly("columns", &list_column_names)
      .def_property_readonly("sensors", &sensor_names)
      .def_property_readonly("time_column", &time_column_of)
      .def_property_readonly("joints", &joints_of)
      .def_property_readonly("motors", &motor_names);
  py::class_<PythonRequest>(module, "Request")
      .def(py::init([](const std::string& rig_name, const std::string& rig_text) {
             PythonRequest program;
             program.request.rig_name = rig_name;
             program.request.rig_text = rig_text;
             program.request.version = RIGCAL_VERSION;
             return program;
           }),
           "rig_name"_a, "rig_text"_a)
      .def("set_option", &set_argument, "name"_a, "value"_a)
      .def("set_time_limit",
           [](PythonRequest& program, double seconds) {
             program.request.duration_s_max = seconds;
           })
      .def("changed_options",
           [](const PythonRequest& program) {
             return format_options_json(program.request.options, false);
           })
      .def("set_edits", &set_edits, "start"_a, "free"_a, "fix"_a, "hold_out"_a)
      .def("check_edits", [](const PythonRequest& program) { (void)edited_rig(program.request); })
      .def("add_recording", &add_recording, "name"_a, "start"_a, "end"_a, "segments"_a, "columns"_a)
      .def("read_values",
           [](PythonRequest& program, const std::string& path) {
             program.request.values = read_parameter_values(path);
           })
      .def("set_values", &set_values, "file"_a, "entries"_a, "kind"_a, "step"_a,
           "state_error_weight"_a);
  module.def("parse_segments", &parse_segment_list);
  module.def("load_recording", &load_recording);
  module.def("simulate", &run_simulation, "request"_a, "scenario_name"_a, "scenario_text"_a,
             "step"_a);
}

}  // namespace service

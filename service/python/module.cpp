#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/messages/message_text.hpp"
#include "service/python/python_input.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

namespace py = pybind11;
using namespace pybind11::literals;

/// Converts a finding to a dict with the keys of the JSON of rigcal.v1.FindingResult.
py::dict to_dict(const estimator::Finding& finding) {
  const FindingText text = describe_finding(finding);
  return py::dict("kind"_a = text.kind, "severity"_a = severity_name(finding.severity),
                  "recording"_a = finding.recording, "channel"_a = finding.channel,
                  "fromS"_a = finding.from, "toS"_a = finding.to, "size"_a = finding.size,
                  "unit"_a = finding.unit, "confidence"_a = finding.confidence,
                  "what"_a = text.what, "advice"_a = text.advice, "treatment"_a = text.treatment);
}

/// Raises an exception class of the Python package. The class is defined in Python, so that it is
/// documented and can be pickled.
void raise_input_error(const char* name, const char* text,
                       const std::vector<estimator::Finding>& findings) {
  const py::object type = py::module_::import("rigcal.errors").attr(name);
  py::list list;
  for (const estimator::Finding& finding : findings) list.append(to_dict(finding));
  const py::object error = list.empty() ? type(text) : type(text, list);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const FaultyInput& fault) {
    const std::string text = std::string(fault.what()) + "; use as_is=True to continue anyway";
    raise_input_error("FaultyInput", text.c_str(), fault.findings);
  } catch (const proto::InputError& error) {
    raise_input_error("InputError", error.what(), {});
  }
}

/// Binds functions that format numbers and iterations, so that Python prints them like the program.
void bind_numbers(py::module_& module) {
  module.def("format_number", &format_number, "value"_a, "digits"_a = 4);
  module.def("format_iteration", &format_iteration, "stage"_a, "iteration"_a, "cost"_a,
             "gradient"_a, "another_problem"_a);
  py::class_<TableNotation>(module, "TableNotation")
      .def_property_readonly("value", [](const TableNotation& n) { return n.value(); })
      .def_property_readonly("deviation", [](const TableNotation& n) { return n.deviation_text(); })
      .def_property_readonly("unit", &TableNotation::unit)
      .def("number", &TableNotation::number_text, "number"_a, "digits"_a = 4)
      .def(
          "interval",
          [](const TableNotation& notation, double value, double standard_deviation,
             double half_interval, double lower, double upper, bool at_bound) {
            estimator::ParameterEstimate estimate;
            estimate.value = value;
            estimate.standard_deviation = standard_deviation;
            estimate.half_interval = half_interval;
            estimate.lower = lower;
            estimate.upper = upper;
            estimate.at_bound = at_bound;
            return format_confidence_interval(estimate, notation);
          },
          py::kw_only(), "value"_a, "standard_deviation"_a, "half_interval"_a, "lower"_a, "upper"_a,
          "at_bound"_a);
  module.def(
      "make_table_notations",
      [](const std::vector<double>& values, const std::vector<double>& standard_deviations,
         const std::vector<std::string>& units) {
        std::vector<TableQuantity> quantities;
        for (std::size_t i = 0; i < values.size(); ++i) {
          quantities.push_back({values[i], standard_deviations.at(i), units.at(i)});
        }
        return make_table_notations(quantities);
      },
      "values"_a, "standard_deviations"_a, "units"_a);
}

constexpr int kFirstForNumpy2 = 0x020C0000;  // version of pybind11

/// Refuses a NumPy that pybind11 cannot use: before 2.12, it crashes with arrays of NumPy 2.
void check_numpy() {
  const auto version = py::cast<std::string>(py::module_::import("numpy").attr("__version__"));
  if (PYBIND11_VERSION_HEX >= kFirstForNumpy2 || version.starts_with("1.")) return;
  throw py::import_error("rigcal was built with a pybind11 before 2.12, which crashes with NumPy " +
                         version +
                         "; install \"numpy<2\", or build rigcal with pip, which downloads a "
                         "recent pybind11");
}

}  // namespace
}  // namespace service

PYBIND11_MODULE(_rigcal, module) {
  module.doc() = "The calibration service's own pipeline; use it through the package rigcal.";
  module.attr("__version__") = RIGCAL_VERSION;
  module.attr("supports_numpy_2") = PYBIND11_VERSION_HEX >= service::kFirstForNumpy2;
  service::check_numpy();
  pybind11::register_exception_translator(&service::translate);
  service::bind_numbers(module);
  service::bind_input_types(module);
  service::bind_dynamics(module);
  service::bind_rig_texts(module);
  service::bind_estimation_functions(module);
}

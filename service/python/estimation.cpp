#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <stdexcept>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "estimator/model/encoder.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/calibration/validation_run.hpp"
#include "service/python/python_input.hpp"
#include "service/python/python_monitor.hpp"
#include "service/recordings/formats/recording_pieces.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/report/validation_report.hpp"
#include "service/result/calibration_message.hpp"
#include "service/result/validation_message.hpp"

namespace service {
namespace {

namespace py = pybind11;
using namespace pybind11::literals;

/// Runs `work` without holding the GIL. Afterwards raises the exception of a Python callback, if
/// there was one.
template <typename Work>
auto solve(PythonMonitor& monitor, Work&& work) {
  try {
    const py::gil_scoped_release solving;
    auto result = work(monitor.hooks());
    const py::gil_scoped_acquire lock;
    monitor.rethrow();
    return result;
  } catch (const std::exception&) {
    monitor.rethrow();  // the callback's exception explains more than the error that followed
    throw;
  }
}

py::list trajectories_of(const std::vector<estimator::SegmentTrajectory>& trajectories) {
  py::list list;
  for (const estimator::SegmentTrajectory& trajectory : trajectories) {
    Eigen::VectorXd time(trajectory.measured.rows());
    for (Eigen::Index k = 0; k < time.size(); ++k) time(k) = trajectory.time(k);
    list.append(py::dict("recording"_a = trajectory.recording, "time"_a = time,
                         "measured"_a = trajectory.measured, "estimated"_a = trajectory.estimated,
                         "simulated"_a = trajectory.simulated, "control"_a = trajectory.control));
  }
  return list;
}

/// Returns the names and units of the sensors that a calibration used.
py::list sensors_of_use(const estimator::Mechanism& mechanism) {
  py::list list;
  for (const estimator::Encoder& sensor : estimator::used_encoders(mechanism)) {
    list.append(py::make_tuple(sensor.name, std::string(sensor.units().coordinate)));
  }
  return list;
}

struct CalibrationHandle {
  estimator::Calibration calibration;
  CalibrationContext context;
};

CalibrationHandle calibrate(const PythonRequest& program, PythonMonitor& monitor) {
  return solve(monitor, [&](const estimator::CalibrationMonitor& hooks) {
    CalibrationInput input = program.load();
    estimator::Calibration calibration = run_calibration(input, hooks);
    return CalibrationHandle{std::move(calibration), std::move(input.context)};
  });
}

struct CrossValidationHandle {
  estimator::CrossValidation validation;
  CalibrationContext context;
  std::vector<estimator::Finding> findings;
};

/// Cross-validates a request.
/// @param by  what to hold out: "recording" or "segment"; empty: segments for a single recording,
/// otherwise recordings
CrossValidationHandle crossvalidate(const PythonRequest& program, const std::string& by, int pieces,
                                    double piece_length, PythonMonitor& monitor) {
  return solve(monitor, [&](const estimator::CalibrationMonitor& hooks) {
    CalibrationInput input = program.load();
    CrossValidationHandle out;
    out.findings = repair_input(input);
    const bool segments = by == "segment" || (by.empty() && input.recordings.size() == 1);
    const PieceOptions cut = {segments ? PieceKind::kSegment : PieceKind::kRecording, pieces,
                              piece_length};
    const auto cuttings = cut_pieces(input.recordings, input.context.recordings, cut);
    out.validation = run_cross_validation(input, cuttings, hooks, [&](int fold) {
      monitor.set_prefix("fold " + std::to_string(fold + 1) + " of " +
                         std::to_string(cuttings.size()) + ", ");
    });
    out.context = std::move(input.context);
    return out;
  });
}

struct ValidationHandle {
  estimator::Validation validation;
  ValidationSettings choice;
  CalibrationContext context;
};

ValidationHandle validate(const PythonRequest& program, double window, double start_window,
                          PythonMonitor& monitor) {
  return solve(monitor, [&](const estimator::CalibrationMonitor& hooks) {
    CalibrationInput input = program.load();
    estimator::Validation validation = run_validation(
        program.request, {window, start_window}, input, hooks, [&](int index, int count) {
          monitor.set_prefix("window " + std::to_string(index + 1) + " of " +
                             std::to_string(count) + ", ");
        });
    ValidationSettings choice = {program.request.values.file, window, input.rig.mechanism};
    return ValidationHandle{std::move(validation), std::move(choice), std::move(input.context)};
  });
}

/// Checks a request's recordings and rig.
/// @return the result as JSON, as text for a terminal, and why no standard deviations could be
/// predicted
py::tuple check(const PythonRequest& program, PythonMonitor& monitor) {
  std::string reason;
  auto [json, text] = solve(monitor, [&](const estimator::CalibrationMonitor& hooks) {
    const CalibrationInput input = program.load();
    const estimator::DiagnosedInput examined = examine_input(input, hooks);
    estimator::Excitation excitation;
    try {
      excitation = estimator::predict_excitation(examined.mechanism, examined.recordings,
                                                 input.context.options, hooks.threads);
    } catch (const std::invalid_argument& fault) {
      reason = fault.what();
    }
    std::string list = format_findings(examined.findings);
    if (list.empty()) list = "No problems found.\n";
    return std::pair(examination_json(examined.findings, excitation, input.context),
                     list + "\n" + format_excitation(excitation));
  });
  return py::make_tuple(json, text, reason);
}

}  // namespace

void bind_estimation(py::module_& module) {
  py::class_<PythonMonitor>(module, "Monitor")
      .def(py::init<py::object, int>(), "progress"_a, "threads"_a);
  py::class_<CalibrationHandle>(module, "Calibration")
      .def("json",
           [](const CalibrationHandle& h) { return calibration_json(h.calibration, h.context); })
      .def("table",
           [](const CalibrationHandle& h) {
             return format_calibration(h.calibration, h.context.wall_time);
           })
      .def("page",
           [](const CalibrationHandle& h) { return calibration_page(h.calibration, h.context); })
      .def("trajectories",
           [](const CalibrationHandle& h) { return trajectories_of(h.calibration.trajectories); })
      .def("sensors",
           [](const CalibrationHandle& h) { return sensors_of_use(h.calibration.mechanism); })
      .def("controls", [](const CalibrationHandle& h) { return h.context.controls; });
  py::class_<CrossValidationHandle>(module, "CrossValidation")
      .def("json",
           [](const CrossValidationHandle& h) {
             return cross_validation_json(h.validation, h.context);
           })
      .def("table",
           [](const CrossValidationHandle& h) {
             return format_cross_validation(h.validation, h.context.wall_time, h.findings);
           })
      .def("page", [](const CrossValidationHandle& h) {
        return cross_validation_page(h.validation, h.context);
      });
  py::class_<ValidationHandle>(module, "Validation")
      .def("json",
           [](const ValidationHandle& h) {
             return validation_json(h.validation, h.choice, h.context);
           })
      .def("table",
           [](const ValidationHandle& h) {
             return format_validation(h.validation, h.choice, h.context.wall_time);
           })
      .def("page",
           [](const ValidationHandle& h) {
             return validation_page(h.validation, h.choice, h.context);
           })
      .def("trajectories",
           [](const ValidationHandle& h) { return trajectories_of(h.validation.trajectories); })
      .def("sensors", [](const ValidationHandle& h) { return sensors_of_use(h.choice.estimate); });
  module.def("calibrate", &calibrate);
  module.def("crossvalidate", &crossvalidate, "request"_a, "by"_a, "pieces"_a, "piece_length"_a,
             "monitor"_a);
  module.def("validate", &validate, "request"_a, "window"_a, "start_window"_a, "monitor"_a);
  module.def("check", &check);
}

}  // namespace service

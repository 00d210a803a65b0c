#include <pybind11/eigen.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/model/encoder.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/messages/stage_text.hpp"
#include "service/options/option_texts.hpp"
#include "service/python/python_input.hpp"
#include "service/recordings/recording_selection.hpp"
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

/// Monitor that reports the progress of a calibration to a Python program. An exception in the
/// program's callback stops the calibration, as does a signal such as Ctrl-C. Only Python's main
/// thread receives signals.
class PythonMonitor {
 public:
  /// @param progress  function called with (stage, iteration, cost, gradient norm); None: no
  /// function
  /// @param threads   number of threads; 0: one per processor
  PythonMonitor(py::object progress, int threads)
      : progress_(std::move(progress)),
        threads_(threads > 0 ? threads
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {
  }

  /// Returns the hooks through which a calibration reports to this object. Use them only during
  /// this object's lifetime and without holding the GIL.
  estimator::CalibrationMonitor hooks() {
    estimator::CalibrationMonitor monitor;
    monitor.threads = threads_;
    monitor.stop = &stop_;
    monitor.on_stage = [this](const estimator::FitStage& stage, const estimator::Mechanism&) {
      stage_ = prefix_ + describe_stage_and_solve(stage);
      on_iteration({});
    };
    monitor.on_iteration = [this](const estimator::IterationRecord& each) { on_iteration(each); };
    return monitor;
  }

  /// Sets the time after which the work ends with Python's TimeoutError [s].
  void set_time_limit(double duration_s) {
    duration_s_ = duration_s;
    start_ = std::chrono::steady_clock::now();
  }

  /// Sets a part of the work, e.g. "fold 2 of 5", that precedes the names of all following stages
  /// in the reported progress.
  /// @param index  of the part, from 0
  void set_part(const std::string& kind, int index, std::size_t count) {
    prefix_ = kind + " " + std::to_string(index + 1) + " of " + std::to_string(count) + ", ";
  }

  /// Raises the Python exception that stopped the calibration, if there is one.
  void rethrow() {
    if (raised_) throw *std::exchange(raised_, std::nullopt);
  }

 private:
  void on_iteration(const estimator::IterationRecord& record) {
    if (stop_.load()) return;  // keep the first exception
    const py::gil_scoped_acquire lock;
    try {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
      if (elapsed.count() > duration_s_) {
        PyErr_SetString(PyExc_TimeoutError,
                        describe_time_limit_end(duration_s_, "raise time_limit").c_str());
        throw py::error_already_set();
      }
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      const bool reports =
          record.parameters.size() > 0 || record.iteration > 0 || record.cost > 0.0;
      if (!progress_.is_none() && reports) {
        progress_(stage_, record.iteration, record.cost, record.gradient_norm);
      }
    } catch (py::error_already_set& raised) {
      raised_.emplace(std::move(raised));
      stop_.store(true);
    }
  }

  py::object progress_;
  int threads_;
  double duration_s_ = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point start_;
  std::string prefix_, stage_;
  std::atomic<bool> stop_{false};
  std::optional<py::error_already_set> raised_;
};

/// Runs `work` for a program's request without holding the GIL. Afterwards raises the exception of
/// a Python callback, or TimeoutError, if there was one.
template <typename Work>
auto solve(const PythonRequest& program, PythonMonitor& monitor, Work&& work) {
  try {
    monitor.set_time_limit(program.request.duration_s_max);
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

// Each of the following functions returns the arguments of a result in rigcal/result.py: the JSON
// as `text`, the text table, the page of the report, and so on.

py::dict calibrate(const PythonRequest& program, PythonMonitor& monitor) {
  CalibrationInput input;
  const auto calibration = solve(program, monitor, [&](const estimator::CalibrationMonitor& hooks) {
    input = program.load();
    return run_calibration(input, hooks);
  });
  return py::dict("text"_a = calibration_json(calibration, input.context),
                  "table"_a = format_calibration(calibration, input.context.wall_time),
                  "page"_a = render_calibration_page(calibration, input.context),
                  "trajectories"_a = trajectories_of(calibration.trajectories),
                  "sensors"_a = sensors_of_use(calibration.mechanism),
                  "controls"_a = input.context.controls);
}

/// Cross-validates a request.
/// @param by  what to hold out: "recording" or "segment"; empty: segments for a single recording,
/// otherwise recordings
py::dict crossvalidate(const PythonRequest& program, const std::string& by, int parts,
                       double part_length, PythonMonitor& monitor) {
  CalibrationInput input;
  std::vector<estimator::Finding> findings;
  const auto validation = solve(program, monitor, [&](const estimator::CalibrationMonitor& hooks) {
    input = program.load();
    findings = diagnose_and_repair_input(input);
    const bool segments = by == "segment" || (by.empty() && input.recordings.size() == 1);
    const HeldOutPartOptions cut = {
        segments ? HeldOutPartKind::kSegment : HeldOutPartKind::kRecording, parts, part_length};
    const auto cuttings = cut_into_parts(input.recordings, input.context.recordings, cut);
    return run_cross_validation(input, cuttings, hooks,
                                [&](int fold) { monitor.set_part("fold", fold, cuttings.size()); });
  });
  return py::dict(
      "text"_a = cross_validation_json(validation, input.context),
      "table"_a = format_cross_validation(validation, input.context.wall_time, findings),
      "page"_a = render_cross_validation_page(validation, input.context));
}

py::dict validate(const PythonRequest& program, double window, double start_window,
                  PythonMonitor& monitor) {
  CalibrationInput input;
  const auto validation = solve(program, monitor, [&](const estimator::CalibrationMonitor& hooks) {
    input = program.load();
    return run_validation(program.request, window, start_window, input, hooks,
                          [&](int index, int count) {
                            monitor.set_part("window", index, static_cast<std::size_t>(count));
                          });
  });
  const ValidationSettings choice = {program.request.values.file, window, input.rig.mechanism};
  return py::dict("text"_a = validation_json(validation, choice, input.context),
                  "table"_a = format_validation(validation, choice, input.context.wall_time),
                  "page"_a = render_validation_page(validation, choice, input.context),
                  "trajectories"_a = trajectories_of(validation.trajectories),
                  "sensors"_a = sensors_of_use(input.rig.mechanism));
}

/// Checks a request's recordings and rig.
/// @return also the reason why no standard deviations could be predicted; empty if they could
py::dict check(const PythonRequest& program, PythonMonitor& monitor) {
  CalibrationInput input;
  estimator::PredictedPrecision excitation;
  std::string reason;
  const auto examined = solve(program, monitor, [&](const estimator::CalibrationMonitor& hooks) {
    input = program.load();
    estimator::DiagnosedInput found = diagnose_input(input, hooks);
    try {
      excitation = estimator::predict_precision(found.mechanism, found.recordings,
                                                input.context.options, hooks.threads);
    } catch (const std::invalid_argument& fault) {
      reason = fault.what();
    }
    return found;
  });
  std::string list = format_findings(examined.findings);
  if (list.empty()) list = "No problems found.\n";
  return py::dict("text"_a = findings_json(examined.findings, excitation, input.context),
                  "table"_a = list + "\n" + format_identifiability(excitation),
                  "reason"_a = reason);
}

}  // namespace

void bind_estimation_functions(py::module_& module) {
  py::class_<PythonMonitor>(module, "Monitor")
      .def(py::init<py::object, int>(), "progress"_a, "threads"_a);
  module.def("calibrate", &calibrate);
  module.def("crossvalidate", &crossvalidate, "request"_a, "by"_a, "parts"_a, "part_length"_a,
             "monitor"_a);
  module.def("validate", &validate, "request"_a, "window"_a, "start_window"_a, "monitor"_a);
  module.def("check", &check);
}

}  // namespace service

#include "service/python/python_monitor.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "service/messages/stage_text.hpp"

namespace service {

namespace py = pybind11;

PythonMonitor::PythonMonitor(py::object progress, int threads)
    : progress_(std::move(progress)),
      threads_(threads > 0 ? threads
                           : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {}

estimator::CalibrationMonitor PythonMonitor::hooks() {
  estimator::CalibrationMonitor monitor;
  monitor.threads = threads_;
  monitor.stop = &stop_;
  monitor.on_stage = [this](const estimator::FitStage& stage, const estimator::Mechanism&) {
    stage_ = prefix_ + to_text(stage);
    on_iteration({});
  };
  monitor.on_iteration = [this](const estimator::IterationRecord& record) { on_iteration(record); };
  return monitor;
}

void PythonMonitor::on_iteration(const estimator::IterationRecord& record) {
  if (stop_.load()) return;  // keep the first exception
  const py::gil_scoped_acquire lock;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const bool reports = record.arrow.size() > 0 || record.iteration > 0 || record.cost > 0.0;
    if (!progress_.is_none() && reports) {
      progress_(stage_, record.iteration, record.cost, record.gradient_norm);
    }
  } catch (py::error_already_set& raised) {
    raised_.emplace(std::move(raised));
    stop_.store(true);
  }
}

void PythonMonitor::rethrow() {
  if (!raised_) return;
  py::error_already_set raised = std::move(*raised_);
  raised_.reset();
  throw raised;
}

}  // namespace service

#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <optional>
#include <string>

#include "estimator/fit/fit_options.hpp"

namespace service {

/// Reports a calibration's progress to a Python program, which can stop it by an exception in its
/// callback, or by a signal such as Ctrl-C. Only Python's main thread receives signals.
class PythonMonitor {
 public:
  /// @param progress  called with (stage, iteration, cost, gradient norm); None: not called
  /// @param threads   number of threads; 0: one per processor
  PythonMonitor(pybind11::object progress, int threads);

  /// Returns hooks to use during this object's lifetime, without holding the GIL.
  estimator::CalibrationMonitor hooks();

  /// Sets the text before the names of all following stages.
  void set_prefix(const std::string& prefix) { prefix_ = prefix; }

  /// Raises the exception that stopped the calibration, if any.
  void rethrow();

 private:
  void on_iteration(const estimator::IterationRecord& record);

  pybind11::object progress_;
  int threads_;
  std::string prefix_, stage_;
  std::atomic<bool> stop_{false};
  std::optional<pybind11::error_already_set> raised_;
};

}  // namespace service

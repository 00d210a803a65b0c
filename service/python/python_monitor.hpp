#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <optional>
#include <string>

#include "estimator/fit/fit_options.hpp"

namespace service {

/// Monitor that reports the progress of a calibration to a Python program. An exception in the
/// program's callback stops the calibration, as does a signal such as Ctrl-C. Only Python's main
/// thread receives signals.
class PythonMonitor {
 public:
  /// @param progress  function called with (stage, iteration, cost, gradient norm); None: no
  /// function
  /// @param threads   number of threads; 0: one per processor
  PythonMonitor(pybind11::object progress, int threads);

  /// Returns the hooks through which a calibration reports to this object. Use them only during
  /// this object's lifetime and without holding the GIL.
  estimator::CalibrationMonitor hooks();

  /// Sets a text that precedes the names of all following stages in the reported progress.
  void set_prefix(const std::string& prefix) { prefix_ = prefix; }

  /// Raises the Python exception that stopped the calibration, if there is one.
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

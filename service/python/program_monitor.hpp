#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <optional>
#include <string>

#include "estimator/fit/fit_options.hpp"

namespace service {

/// Lets a Python program see a running calibration, and end it: by an exception of its callback, or
/// by a signal, such as Ctrl-C. Signals reach Python's main thread alone.
class ProgramMonitor {
 public:
  /// @param progress  called with (stage, iteration, cost, gradient norm); None: nothing is
  /// @param threads   to work with; 0: one for each processor
  ProgramMonitor(pybind11::object progress, int threads);

  /// To be used while this lives, without holding Python's lock.
  estimator::CalibrationMonitor hooks();

  /// Before the names of all stages that follow.
  void set_prefix(const std::string& prefix) { prefix_ = prefix; }

  /// Raises what ended the calibration, if something has.
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

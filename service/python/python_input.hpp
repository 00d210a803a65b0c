#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <vector>

#include "service/calibration/calibration_input.hpp"
#include "service/import/column_recording.hpp"

namespace service {

/// A request of a Python program, with its in-memory recordings.
struct PythonRequest {
  CalibrationRequest request;
  std::map<std::string, std::vector<NamedColumn>> tables;  ///< by the path of their source

  /// Reads a recording from memory if it is there, else from its file.
  ImportedRecording read(const RecordingSource& source, const Rig& rig) const;

  /// @throws proto::InputError
  CalibrationInput load() const;
};

/// Binds rigs, requests, imported recordings and simulations.
void bind_input(pybind11::module_& module);

/// Binds calibrations, cross-validations, validations and checks.
void bind_estimation(pybind11::module_& module);

}  // namespace service

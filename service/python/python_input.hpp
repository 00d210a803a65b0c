#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <vector>

#include "service/calibration/calibration_input.hpp"
#include "service/recordings/csv_recording.hpp"

namespace service {

/// Calibration request from a Python program, with recordings that are in memory.
struct PythonRequest {
  CalibrationRequest request;
  std::map<std::string, std::vector<NamedColumn>> tables;  ///< recordings, by path of their source

  /// Imports a recording from memory, or from its file if the recording is not in memory.
  ImportedRecording read(const RecordingSource& source, const Rig& rig) const;

  /// Loads and checks the rig and all recordings of the request.
  CalibrationInput load() const;
};

/// Returns the rig of a request with the values and edits that the Python program gave.
Rig edited_rig(const CalibrationRequest& request);

/// Adds Python classes and functions for rigs, requests, recordings and simulations to the module.
void bind_input_types(pybind11::module_& module);

/// Adds the Python class for accelerations, linear models and simulations of a rig to the module.
void bind_dynamics(pybind11::module_& module);

/// Adds Python functions that return texts of rig files, URDF and MJCF files to the module.
void bind_rig_texts(pybind11::module_& module);

/// Adds Python functions for calibration, cross-validation, validation and checks to the module.
void bind_estimation_functions(pybind11::module_& module);

}  // namespace service

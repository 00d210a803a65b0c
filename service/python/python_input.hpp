#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <vector>

#include "service/calibration/calibration_input.hpp"
#include "service/recordings/csv_recording.hpp"

namespace service {

/// Calibration request of a Python program, together with its recordings in memory.
struct PythonRequest {
  CalibrationRequest request;
  std::map<std::string, std::vector<NamedColumn>> tables;  ///< recordings, by path of their source

  /// Reads a recording from memory if it is in memory, otherwise from its file.
  ImportedRecording read(const RecordingSource& source, const Rig& rig) const;

  /// Loads the rig and all recordings of the request.
  /// @throws proto::InputError if they are invalid
  CalibrationInput load() const;
};

/// Adds Python bindings of rigs, requests, imported recordings and simulations to the module.
void bind_input(pybind11::module_& module);

/// Adds Python bindings of calibrations, cross-validations, validations and checks to the module.
void bind_estimation(pybind11::module_& module);

}  // namespace service

#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <vector>

#include "service/calibration/calibration_input.hpp"
#include "service/import/column_recording.hpp"

namespace service {

/// A request of a Python program, and the recordings of it that are in memory.
struct ProgramRequest {
  CalibrationRequest request;
  std::map<std::string, std::vector<NamedColumn>> tables;  ///< by the path of their source

  /// Reads a source from memory where it is there, else from its file.
  ImportedRecording read(const RecordingSource& source, const Rig& rig) const;

  /// @throws proto::InputError
  CalibrationInput load() const;
};

/// Rigs, requests, what is read of recordings, and simulations.
void bind_input(pybind11::module_& module);

/// Calibrations, cross-validations, validations and checks of requests.
void bind_estimation(pybind11::module_& module);

}  // namespace service

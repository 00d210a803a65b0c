#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "service/convert/calibration_message.hpp"
#include "service/convert/parameter_edits.hpp"
#include "service/convert/recording_selection.hpp"
#include "service/convert/rig_file.hpp"

namespace service {

/// Options that calibrate and crossvalidate share, as given on the command line.
struct EstimationOptions {
  std::vector<std::string> recordings;
  std::string rig;
  Selection selection;
  std::string segments;
  ParameterEdits edits;
  estimator::CalibrationOptions calibration;
  bool quiet = false;
};

/// What the estimator is given.
struct EstimationInput {
  Rig rig;  ///< with the edits applied
  std::vector<estimator::Recording> recordings;
  CalibrationContext context;  ///< all but the wall time
};

/// Adds the options to a command. `options` must outlive the parsing.
void add_estimation_options(CLI::App& command, EstimationOptions& options);

/// What a person should know of an import: gaps, dropped rows, odd columns. Empty when all is well.
std::vector<std::string> describe_import(const ImportSummary& summary);

/// Loads the rig and the recordings. Prints what a person should know to standard error.
/// @throws InputError
EstimationInput load_estimation_input(const EstimationOptions& options);

}  // namespace service

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
  std::string values;  ///< result whose values come before the edits; empty: none
  ParameterEdits edits;
  estimator::CalibrationOptions calibration;
  bool no_refine = false;
  bool quiet = false;
  int threads = 0;  ///< on this machine; 0: as many as it has processors
};

/// What the estimator is given.
struct EstimationInput {
  Rig rig;  ///< with the edits applied
  std::vector<estimator::Recording> recordings;
  CalibrationContext context;  ///< all but the wall time; its options are those to use
};

/// Where the result goes, beside the table; empty: nowhere.
struct ResultFiles {
  std::string json;
  std::string plot;
};

/// Time steps a mechanism of some centimetres can be stepped with [s].
CLI::Validator step_validator();

/// The "parameters" option's text: a kind of estimate, or a file with values.
/// @throws CLI::ValidationError where it is neither
void take_parameters_option(const std::string& text, EstimationOptions& options);

/// Adds --json and --plot to a command. `files` must outlive the parsing.
void add_result_files(CLI::App& command, ResultFiles& files);

/// Refuses, before the work is done, results that could not be written.
/// @throws InputError
void check_result_files(const ResultFiles& files, const EstimationOptions& options);

/// Adds the options to a command. `options` must outlive the parsing.
void add_estimation_options(CLI::App& command, EstimationOptions& options);

/// What the estimator could not use, with the files it came from.
/// @param fault  the estimator's message
std::string describe_fault(const EstimationOptions& options, const std::exception& fault);

/// Loads the rig and the recordings. Prints what a person should know to standard error.
/// @throws InputError
EstimationInput load_estimation_input(const EstimationOptions& options);

}  // namespace service

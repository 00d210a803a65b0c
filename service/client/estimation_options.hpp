#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "service/calibration/calibration_input.hpp"
#include "service/import/parameter_edits.hpp"
#include "service/import/recording_selection.hpp"

namespace service {

/// Options shared by the commands that use the estimator.
struct EstimationOptions {
  std::vector<std::string> recordings;
  std::string rig;
  Selection selection;
  std::string segments;
  std::string values;  ///< result that provides values before the edits; empty: none
  ParameterEdits edits;
  estimator::CalibrationOptions calibration;
  bool no_refine = false;
  bool quiet = false;
  std::string operator_name;  ///< for the report
  int threads = 0;            ///< on this machine; 0: one per processor
};

/// Output files in addition to the printed table; empty: not written.
struct ResultFiles {
  std::string json;
  std::string plot;
  std::string rig_out = {};
  bool rig_out_priors = false;  ///< write the estimates as priors into it
  bool trajectories = false;    ///< include them in the JSON
  std::string urdf_out = {};    ///< the calibrated robot
  std::string mjcf_out = {};
};

/// Returns the range check for time steps [s].
CLI::Validator step_validator();

/// Parses the text of --parameters: a kind of estimate, or a file with values.
/// @throws CLI::ValidationError if it is neither
void parse_parameters_option(const std::string& text, EstimationOptions& options);

/// Adds --parameters RESULT.json to a command that uses only its values.
/// @param what  what the command does with the values, for --help
CLI::Option* add_values_option(CLI::App& command, std::string& values, const std::string& what);

/// Adds --json and --plot to a command. `files` must outlive the parsing.
void add_result_files(CLI::App& command, ResultFiles& files);

/// Adds the options for descriptions of the calibrated rig: --rig-out, --rig-out-priors,
/// --urdf-out, --mjcf-out.
void add_rig_files(CLI::App& command, ResultFiles& files);

/// Adds the other outputs of a calibration: rig descriptions and --trajectories.
void add_calibration_files(CLI::App& command, ResultFiles& files);

/// Checks before the work that the results can be written.
/// @throws InputError
void check_result_files(const ResultFiles& files, const EstimationOptions& options);
void check_result_files(const ResultFiles& files, const std::vector<std::string>& inputs);

/// Adds the options to a command. `options` must outlive the parsing.
void add_estimation_options(CLI::App& command, EstimationOptions& options);

/// Makes the request; reads the rig file and the file of values.
/// @throws InputError
CalibrationRequest make_request(const EstimationOptions& options);

/// Loads the rig and the recordings. Prints notes to standard error.
/// @throws InputError
CalibrationInput load_estimation_input(const EstimationOptions& options);

}  // namespace service

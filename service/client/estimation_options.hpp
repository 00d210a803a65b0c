#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "service/calibration/calibration_input.hpp"
#include "service/import/parameter_edits.hpp"
#include "service/import/recording_selection.hpp"

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
  std::string operator_name;  ///< for the report
  int threads = 0;            ///< on this machine; 0: as many as it has processors
};

/// Where the result goes, beside the table; empty: nowhere.
struct ResultFiles {
  std::string json;
  std::string plot;
  std::string rig_out = {};
  bool rig_out_priors = false;  ///< estimates become priors there
  bool trajectories = false;    ///< are in the JSON
  std::string urdf_out = {};    ///< the calibrated robot
  std::string mjcf_out = {};
};

/// Time steps a mechanism of some centimetres can be stepped with [s].
CLI::Validator step_validator();

/// The "parameters" option's text: a kind of estimate, or a file with values.
/// @throws CLI::ValidationError where it is neither
void take_parameters_option(const std::string& text, EstimationOptions& options);

/// Adds --parameters RESULT.json to a command that takes values alone.
/// @param what  what the command does with them, for people
CLI::Option* add_values_option(CLI::App& command, std::string& values, const std::string& what);

/// Adds --json and --plot to a command. `files` must outlive the parsing.
void add_result_files(CLI::App& command, ResultFiles& files);

/// Adds the descriptions of the calibrated rig: --rig-out, --rig-out-priors, --urdf-out,
/// --mjcf-out.
void add_rig_files(CLI::App& command, ResultFiles& files);

/// Adds what a calibration can write beside these: the rig's descriptions and --trajectories.
void add_calibration_files(CLI::App& command, ResultFiles& files);

/// Refuses, before the work is done, results that could not be written.
/// @throws InputError
void check_result_files(const ResultFiles& files, const EstimationOptions& options);
void check_result_files(const ResultFiles& files, const std::vector<std::string>& inputs);

/// Adds the options to a command. `options` must outlive the parsing.
void add_estimation_options(CLI::App& command, EstimationOptions& options);

/// What the options ask for; reads the rig's file and that of values.
/// @throws InputError
CalibrationRequest make_request(const EstimationOptions& options);

/// Loads the rig and the recordings. Prints what a person should know to standard error.
/// @throws InputError
CalibrationInput load_estimation_input(const EstimationOptions& options);

}  // namespace service

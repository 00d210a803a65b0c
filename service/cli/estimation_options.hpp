#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "proto/text/files.hpp"
#include "service/calibration/calibration_input.hpp"
#include "service/cli/page_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/rig/parameters/parameter_edits.hpp"

namespace service {

/// Options shared by the commands that use the estimator.
struct EstimationOptions {
  std::vector<std::string> recordings;
  std::vector<RecordingSource> earlier = {};  ///< recordings to use before `recordings`
  std::string rig;
  RecordingSelection selection;
  std::string segments;
  std::string values;  ///< result file with parameter values, applied before `edits`; or empty
  ParameterEdits edits;
  estimator::CalibrationOptions calibration;
  bool quiet = false;
  bool verbose = false;       ///< log every iteration
  std::string operator_name;  ///< name of the operator for the report
  int threads = 0;            ///< number of threads on this machine; 0: one per processor
  double time_limit = kTimeLimitDefault;  ///< [s]
};

/// Output files that a command writes in addition to the printed table. A file with an empty path
/// is not written.
struct ResultFiles {
  std::string json = {};
  std::string plot = {};
  std::string rig_out = {};
  bool rig_out_priors = false;  ///< write the estimates as priors into the rig file `rig_out`
  bool trajectories = false;    ///< include trajectories in the JSON file
  std::string urdf_out = {};    ///< URDF file of the calibrated robot
  std::string mjcf_out = {};
  bool force = false;  ///< overwrite existing rig files and robot descriptions
};

/// Returns the part of the recordings that the options select.
/// @throws proto::InputError if --from is not less than --to, or for an invalid list of segments
RecordingSelection make_selection(const EstimationOptions& options);

/// Returns the command-line validator that checks the range of time steps [s].
CLI::Validator time_step_validator();

/// Parses the text of the option --parameters, which is a kind of estimate or a file with values.
/// @throws CLI::ValidationError if it is neither
void parse_parameters_option(const std::string& text, EstimationOptions& options);

/// Adds the option --time-limit to a command.
void add_time_limit_option(CLI::App& command, double& time_limit);

/// Adds the option --parameters RESULT.json to a command that reads only values from the result
/// file.
/// @param help  use of the values by the command, for --help
CLI::Option* add_parameter_values_option(CLI::App& command, std::string& values,
                                         const std::string& help);

/// Adds the options --json and --plot to a command. `files` must stay valid during parsing.
void add_result_file_options(CLI::App& command, ResultFiles& files);

/// Adds the options for files that describe the calibrated rig: --rig-out, --rig-out-priors,
/// --urdf-out, --mjcf-out and --force.
void add_rig_file_options(CLI::App& command, ResultFiles& files);

/// Adds the options of add_rig_file_options and --trajectories to a command.
void add_calibration_file_options(CLI::App& command, ResultFiles& files);

/// Returns the paths of the files that the options name as inputs.
std::vector<std::string> input_file_paths(const EstimationOptions& options);

/// Checks that the result files can be written. Call it before the estimation.
/// @param inputs  files that the command reads, which are never overwritten
/// @throws InputError if a file cannot be written, or if a file that describes the calibrated rig
///     exists and `files.force` is not set
void check_result_files_writable(const ResultFiles& files, const std::vector<std::string>& inputs);

/// Adds the option --topic, which chooses a topic of a ROS 2 bag. `topic` must stay valid during
/// parsing.
void add_topic_option(CLI::App& command, std::string& topic);

/// Adds the options of a calibration (kOptionRows) to a command.
void add_calibration_options(CLI::App& command, estimator::CalibrationOptions& options);

/// Adds the options of the estimator to a command. `options` must stay valid during parsing.
void add_estimation_options(CLI::App& command, EstimationOptions& options);

/// Makes the calibration request from command-line options. Reads the rig file and the file with
/// values.
/// @throws InputError if a file or an option is invalid
CalibrationRequest make_calibration_request(const EstimationOptions& options);

/// Loads the rig and the recordings of a command, after checking that its result files can be
/// written. Prints notes to standard error.
/// @throws InputError if a file or an option is invalid
CalibrationInput load_estimation_input(const std::string& command, const EstimationOptions& options,
                                       const ResultFiles& files = {});

/// Writes the files of the options --json and --plot, if they are given.
/// @param json, page  return the contents
template <typename Json, typename Page>
void write_result_files(const ResultFiles& files, const Json& json, const Page& page) {
  if (!files.json.empty()) proto::write_file(files.json, json());
  if (!files.plot.empty()) write_report_file(files.plot, page());
}

}  // namespace service

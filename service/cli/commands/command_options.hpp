#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/temporary_folder.hpp"
#include "service/calibration/bootstrap_run.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/cli/command.hpp"
#include "service/cli/estimation_options.hpp"
#include "service/cli/remote/remote_calibration.hpp"
#include "service/cli/terminal.hpp"
#include "service/design/experiment.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/rig/init/rig_proposal.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/simulation/scenario.hpp"
#include "service/work/executor.hpp"
#include "service/work/slurm/slurm_commands.hpp"
#include "service/work/work_task.hpp"

namespace service {

/// Options of `rigcal calibrate`.
struct CalibrateOptions {
  EstimationOptions estimation;
  ResultFiles files;
  RemoteOptions remote;
};

/// Options of `rigcal check`.
struct CheckOptions {
  EstimationOptions estimation;
  ResultFiles files;  ///< the only possible file is the JSON file
};

/// Options of `rigcal crossvalidate`.
struct CrossvalidateOptions {
  EstimationOptions estimation;
  HeldOutPartOptions cut;
  CLI::Option* by = nullptr;  ///< option --by, to check whether it was given
  ResultFiles files;
};

/// Options of `rigcal validate`.
struct ValidateOptions {
  EstimationOptions estimation;
  double window = 0.0;        ///< length of the predicted windows [s]; 0: whole segments
  double start_window = 0.0;  ///< initial part that determines the state [s]; 0: whole window
  ResultFiles files;
};

/// Options of a command that computes many work items (WorkItem).
struct ItemOptions {
  std::string folder;     ///< folder of finished items; empty: a temporary folder
  int tasks = 0;          ///< number of tasks to write; 0: compute the items
  bool on_slurm = false;  ///< whether a Slurm cluster computes the items
  SlurmSettings slurm;
};

/// Options of `rigcal bootstrap`.
struct BootstrapOptions {
  EstimationOptions estimation;
  BootstrapSettings settings;
  ItemOptions items;
  ResultFiles files;
};

/// Options of `rigcal batch`.
struct BatchOptions {
  std::string list;
  estimator::CalibrationOptions calibration;
  ItemOptions items;
  std::string csv;                        ///< file for the estimates; empty: no file
  std::string json;                       ///< folder for results of calibrations; empty: none
  int threads = 0;                        ///< number of threads; 0: one per processor
  double time_limit = kTimeLimitDefault;  ///< [s]
  bool quiet = false;
};

/// Options of `rigcal work`.
struct WorkOptions {
  std::string folder;
  int task = 0;
  int threads = 1;
};

/// Options of `rigcal estimate`.
struct EstimateOptions {
  EstimationOptions estimation;
  std::string out;                ///< file for the states; "-": standard output
  std::vector<std::string> only;  ///< kinds of states to write for each joint; empty: all
  bool causal = false;            ///< estimate a state only from readings up to its time
  double lag = 0.0;               ///< also use readings up to this much later than a state [s]
};

/// Kind of parts into which a comparison of friction laws cuts the recordings. With kChosen, rigcal
/// chooses the kind.
enum class ComparisonParts { kChosen, kRecording, kSegment, kWindow };

/// Options of `rigcal compare`.
struct CompareOptions {
  EstimationOptions estimation;
  std::vector<std::string> laws;    ///< friction laws to compare; empty: the defaults
  std::vector<std::string> joints;  ///< joints to compare; empty: all with friction
  ComparisonParts by = ComparisonParts::kChosen;
  double window = 0.0;  ///< length of a part [s]; 0: chosen for enough parts of equal length
  int folds = 5;
  ResultFiles files;
};

/// Options of `rigcal repeat`.
struct RepeatOptions {
  std::string result;
  std::vector<std::string> recordings;  ///< files; empty: at the stored paths or beside the result
  bool changed_data = false;
  int threads = 0;  ///< number of threads; 0: one per processor
  bool quiet = false;
  bool verbose = false;  ///< log every iteration
  ResultFiles files;
};

/// Options of `rigcal simulate`.
struct SimulateOptions {
  std::string rig;
  std::string scenario;
  std::string out;   ///< CSV file to write; empty: no file
  std::string plot;  ///< picture file to write; empty: no file
  // SPOOK is first-order: at 0.1 ms a Furuta pendulum deviates by about 0.01 rad in 3 s.
  double step = 1e-4;  ///< time step [s]
  Integrator integrator = Integrator::kAutomatic;
  double time_limit = kTimeLimitDefault;  ///< [s]
  std::string values;  ///< result file with parameter values, applied before `edits`; or empty
  ParameterEdits edits;
};

/// Options of `rigcal design`.
struct DesignOptions {
  std::string rig;
  std::string after;                 ///< result file of the last calibration; empty: none yet
  std::string values;                ///< result file that provides only values; empty: no file
  std::vector<std::string> targets;  ///< targets "NAME[:PRECISION]"
  std::string out;
  ExperimentRequest experiment;  ///< 0 threads: one per processor
  bool quiet = false;
};

/// Options of `rigcal identify`.
struct IdentifyOptions {
  std::string rig;
  std::vector<std::string> targets;  ///< targets "NAME:PRECISION"
  std::string folder;
  std::string values;  ///< result file with the first initial values; empty: as in the rig file
  std::string url;     ///< address of the rig; empty: as in the rig file
  std::string daq;     ///< path of rigcal-daq; empty: in this program's folder
  int runs = 8;
  double pause = 20.0;           ///< time between two runs [s]
  ExperimentRequest experiment;  ///< 0 threads: one per processor
  bool not_commissioned = false;
  bool quiet = false;
};

/// Options of `rigcal init`.
struct InitOptions {
  std::string out;
  bool force = false;
  std::string kind;  ///< kind of rig; empty: ask the user
  std::string from;
  std::string topic;  ///< topic of a ROS 2 bag; empty: none chosen
  std::string name;
  int links = 0;  ///< number of links of a chain; 0: not given
  std::vector<double> lengths, centers, masses;
  std::optional<double> arm_length, arm_center, arm_mass, cart_mass, ground;
  double axis_tilt = 0.0;  ///< tilt of the joint axes from horizontal [deg]
  double gravity = 9.81;   ///< [m/s²]
  bool absolute = false;
  std::string unit;                   ///< address of the conversion unit; empty: no unit
  std::vector<std::string> channels;  ///< joints in the order of the unit
  std::vector<std::string> ranges;    ///< "MIN:MAX" of each joint
  std::vector<double> speeds;         ///< largest speed of each joint [rad/s or m/s]
  std::optional<double> command_max;
  ColumnChoice columns;
};

/// Adds the options of a command to the command line. `options` must stay valid during parsing.
void add_options(CLI::App& command, CalibrateOptions& options);
void add_options(CLI::App& command, CheckOptions& options);
void add_options(CLI::App& command, CrossvalidateOptions& options);
void add_options(CLI::App& command, BootstrapOptions& options);
void add_options(CLI::App& command, BatchOptions& options);
void add_options(CLI::App& command, WorkOptions& options);
void add_options(CLI::App& command, ValidateOptions& options);
void add_options(CLI::App& command, EstimateOptions& options);
void add_options(CLI::App& command, CompareOptions& options);
void add_options(CLI::App& command, RepeatOptions& options);
void add_options(CLI::App& command, SimulateOptions& options);
void add_options(CLI::App& command, InitOptions& options);
void add_options(CLI::App& command, DesignOptions& options);
void add_options(CLI::App& command, IdentifyOptions& options);

/// Calibrates in this process and shows a progress line. Prints the findings that prevent a
/// calibration.
/// @throws proto::InputError if the input is invalid
estimator::Calibration calibrate_locally(CalibrationInput& input, const InterruptFlag& interrupt,
                                         ProgressOptions shown, int threads);

/// Prints the table of a calibration's results and writes the requested files. If the calibration
/// was stopped, prints only a message.
ExitCode print_calibration(const estimator::Calibration& calibration, const CalibrationInput& input,
                           const ResultFiles& files);

/// Adds the options for finished items and tasks to a command.
/// @param item  name of an item, e.g. "draw"
void add_item_options(CLI::App& command, ItemOptions& items, const std::string& item);

/// Adds the option --executor, and options for the tasks on a cluster. Returns --executor.
CLI::Option* add_cluster_options(CLI::App& command, bool& on_slurm, SlurmSettings& slurm);

/// Folder of finished items, and the executor that computes the missing ones.
class ItemRun {
 public:
  /// @param threads  number of threads; 0: one per processor
  ItemRun(const ItemOptions& options, int threads);

  WorkStore& store() { return *store_; }
  Executor& executor() { return *executor_; }
  /// Returns version and build of this program, for keys.
  std::string program() const { return program_.version + " " + program_.build; }
  /// Prints the remaining work after an executor has not finished.
  /// @param stopped  whether the user or the time limit stopped the command
  ExitCode report_unfinished(bool stopped) const;

 private:
  ItemOptions options_;
  WorkProgram program_;
  std::optional<proto::TemporaryFolder> temporary_;
  std::optional<WorkStore> store_;
  std::unique_ptr<Executor> executor_;
};

/// Returns a function that shows the progress of items. Outputs other than terminals get a line
/// after each tenth of the items.
/// @param item  name of an item, e.g. "draw"
WorkProgressFunction show_items(const std::string& item, ProgressLine& progress);

/// Runs the function `work` with a monitor that shows its progress, and with a text that `work`
/// sets to the current part, e.g. "fold 2 of 5".
template <typename Work>
auto run_with_progress(const EstimationOptions& options, const InterruptFlag& interrupt,
                       const Work& work) {
  ProgressLine progress{{options.quiet, options.verbose}};
  std::string part;
  return work(make_monitor(interrupt, progress, options.threads, &part), part);
}

/// Returns e.g. "fold 2 of 5".
/// @param index  from 0
inline std::string format_part_number(const std::string& kind, int index, std::size_t count) {
  return kind + " " + std::to_string(index + 1) + " of " + std::to_string(count);
}

/// Adds the options that the commands "design" and "identify" share.
void add_experiment_options(CLI::App& command, ExperimentRequest& experiment);

/// Designs an experiment and shows the progress on standard error.
/// @param where  path of the scenario file, for messages
DesignedExperiment design_with_progress(const DesignInput& today, ExperimentRequest request,
                                        const std::string& where, bool quiet);

}  // namespace service

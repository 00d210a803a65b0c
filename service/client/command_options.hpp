#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "service/client/estimation_options.hpp"
#include "service/client/remote/remote_calibration.hpp"
#include "service/describe/rig_proposal.hpp"
#include "service/design/experiment.hpp"
#include "service/import/parameter_edits.hpp"
#include "service/import/recording_pieces.hpp"
#include "service/simulation/integrator.hpp"

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
  ResultFiles files;  ///< JSON only
};

/// Options of `rigcal crossvalidate`.
struct CrossvalidateOptions {
  EstimationOptions estimation;
  PieceOptions cut;
  CLI::Option* by = nullptr;  ///< set if --by was given
  ResultFiles files;
};

/// Options of `rigcal validate`.
struct ValidateOptions {
  EstimationOptions estimation;
  double window = 0.0;        ///< [s]; 0: whole segments
  double start_window = 0.0;  ///< [s]; 0: estimate the state from the whole window
  ResultFiles files;
};

/// Options of `rigcal estimate`.
struct EstimateOptions {
  EstimationOptions estimation;
  std::string out;                ///< file for the states; "-": standard output
  std::vector<std::string> only;  ///< states to output per joint; empty: all
  bool causal = false;            ///< use no readings after a sample for its state
  double lag = 0.0;               ///< readings up to this much later are used [s]; 0: none
};

/// PartEstimates into which a friction-law comparison cuts the recordings.
enum class ComparisonPieces { kChosen, kRecording, kSegment, kWindow };

/// Options of `rigcal compare`.
struct CompareOptions {
  EstimationOptions estimation;
  std::vector<std::string> laws;    ///< empty: the default ones
  std::vector<std::string> joints;  ///< empty: those with friction
  ComparisonPieces by = ComparisonPieces::kChosen;
  double window = 0.0;  ///< [s]; 0: enough windows of equal length
  int folds = 5;
  ResultFiles files;
};

/// Options of `rigcal repeat`.
struct RepeatOptions {
  std::string result;
  std::vector<std::string> recordings;  ///< empty: at their recorded paths or beside the result
  bool changed_data = false;
  int threads = 0;  ///< 0: one per processor
  bool quiet = false;
  ResultFiles files;
};

/// Options of `rigcal simulate`.
struct SimulateOptions {
  std::string rig;
  std::string scenario;
  std::string out;   ///< CSV; empty: none
  std::string plot;  ///< SVG; empty: none
  // SPOOK is first-order: at 0.1 ms a Furuta pendulum deviates by about 0.01 rad in 3 s.
  double step = 1e-4;  ///< [s]
  Integrator integrator = Integrator::kAutomatic;
  std::string values;  ///< result that provides values before the edits; empty: none
  ParameterEdits edits;
};

/// Options of `rigcal design`.
struct DesignOptions {
  std::string rig;
  std::string after;                 ///< result; empty: none yet
  std::string values;                ///< result that provides only values; empty: none
  std::vector<std::string> targets;  ///< "NAME[:PRECISION]"
  std::string out;
  ExperimentRequest experiment;  ///< threads 0: one per processor
  bool quiet = false;
};

/// Options of `rigcal identify`.
struct IdentifyOptions {
  std::string rig;
  std::vector<std::string> targets;  ///< "NAME:PRECISION"
  std::string folder;
  std::string values;  ///< result that provides the first run's initial values; empty: the rig file
  std::string url;     ///< empty: the rig file's
  std::string daq;     ///< empty: beside this program
  int runs = 8;
  double pause = 20.0;           ///< [s]
  ExperimentRequest experiment;  ///< threads 0: one per processor
  bool not_commissioned = false;
  bool quiet = false;
};

/// Options of `rigcal init`.
struct InitOptions {
  std::string out;
  bool force = false;
  std::string kind;  ///< empty: ask
  std::string from;
  std::string name;
  int links = 0;  ///< of a chain; 0: not given
  std::vector<double> lengths, centers, masses;
  std::optional<double> arm_length, arm_center, arm_mass, cart_mass, ground;
  double axis_tilt = 0.0;  ///< [deg]
  double gravity = 9.81;   ///< [m/s²]
  bool absolute = false;
  ColumnChoice columns;
};

/// Adds a command's options. `options` must outlive the parsing.
void add_options(CLI::App& command, CalibrateOptions& options);
void add_options(CLI::App& command, CheckOptions& options);
void add_options(CLI::App& command, CrossvalidateOptions& options);
void add_options(CLI::App& command, ValidateOptions& options);
void add_options(CLI::App& command, EstimateOptions& options);
void add_options(CLI::App& command, CompareOptions& options);
void add_options(CLI::App& command, RepeatOptions& options);
void add_options(CLI::App& command, SimulateOptions& options);
void add_options(CLI::App& command, InitOptions& options);
void add_options(CLI::App& command, DesignOptions& options);
void add_options(CLI::App& command, IdentifyOptions& options);

/// Adds the options that design and identify share.
void add_experiment_options(CLI::App& command, ExperimentRequest& experiment);

/// Designs an experiment with progress on standard error.
Experiment design_with_progress(const PriorState& today, ExperimentRequest request,
                                const std::string& where, bool quiet);

}  // namespace service

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

/// What `rigcal calibrate` is told.
struct CalibrateOptions {
  EstimationOptions estimation;
  ResultFiles files;
  RemoteOptions remote;
};

/// What `rigcal check` is told.
struct CheckOptions {
  EstimationOptions estimation;
  ResultFiles files;  ///< JSON alone
};

/// What `rigcal crossvalidate` is told.
struct CrossvalidateOptions {
  EstimationOptions estimation;
  PieceCut cut;
  CLI::Option* by = nullptr;  ///< whether --by was given
  ResultFiles files;
};

/// What `rigcal validate` is told.
struct ValidateOptions {
  EstimationOptions estimation;
  double window = 0.0;        ///< [s]; 0: whole segments
  double start_window = 0.0;  ///< [s]; 0: the state is from all of a window
  ResultFiles files;
};

/// What `rigcal estimate` is told.
struct EstimateOptions {
  EstimationOptions estimation;
  std::string out;                ///< file for the states; "-": standard output
  std::vector<std::string> only;  ///< what is wanted of every joint; empty: all
  bool causal = false;            ///< readings after a sample do not count for it
  double lag = 0.0;               ///< but those of so much time do [s]; 0: none
};

/// What one piece of a comparison of laws is.
enum class LawPieces { kChosen, kRecording, kSegment, kWindow };

/// What `rigcal compare` is told.
struct CompareOptions {
  EstimationOptions estimation;
  std::vector<std::string> laws;    ///< empty: the usual ones
  std::vector<std::string> hinges;  ///< empty: those with friction
  LawPieces by = LawPieces::kChosen;
  double window = 0.0;  ///< [s]; 0: windows of equal length, enough of them
  int folds = 5;
  ResultFiles files;
};

/// What `rigcal repeat` is told.
struct RepeatOptions {
  std::string result;
  std::vector<std::string> recordings;  ///< empty: where they were
  bool changed_data = false;
  int threads = 0;  ///< 0: as many as there are processors
  bool quiet = false;
  ResultFiles files;
};

/// What `rigcal simulate` is told.
struct SimulateOptions {
  std::string rig;
  std::string scenario;
  std::string out;   ///< CSV; empty: none
  std::string plot;  ///< SVG; empty: none
  // SPOOK is of first order: at 0.1 ms a Furuta pendulum strays by about 0.01 rad in 3 s.
  double step = 1e-4;  ///< [s]
  Integrator integrator = Integrator::kAutomatic;
  std::string values;  ///< result whose values come before the edits; empty: none
  ParameterEdits edits;
};

/// What `rigcal design` is told.
struct DesignOptions {
  std::string rig;
  std::string after;                 ///< result; empty: none yet
  std::string values;                ///< result whose values count alone; empty: none
  std::vector<std::string> targets;  ///< "NAME[:PRECISION]"
  std::string out;
  ExperimentRequest experiment;  ///< threads 0: as many as there are processors
  bool quiet = false;
};

/// What `rigcal identify` is told.
struct IdentifyOptions {
  std::string rig;
  std::vector<std::string> targets;  ///< "NAME:PRECISION"
  std::string folder;
  std::string values;  ///< result whose values the first run begins at; empty: the rig file's
  std::string url;     ///< empty: the rig file's
  std::string daq;     ///< empty: beside this program
  int runs = 8;
  double pause = 20.0;           ///< [s]
  ExperimentRequest experiment;  ///< threads 0: as many as there are processors
  bool not_commissioned = false;
  bool quiet = false;
};

/// What `rigcal init` is told.
struct InitOptions {
  std::string out;
  bool force = false;
  std::string kind;  ///< empty: it asks
  std::string from;
  std::string name;
  int links = 0;  ///< of a chain; 0: not said
  std::vector<double> lengths, centers, masses;
  std::optional<double> arm_length, arm_center, arm_mass, cart_mass, ground;
  double axis_lean = 0.0;  ///< [deg]
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

/// Options of the runs that design and identify have in common.
void add_experiment_options(CLI::App& command, ExperimentRequest& experiment);

/// Designs a run for them, with progress on standard error.
Experiment design_with_progress(const Today& today, ExperimentRequest request,
                                const std::string& where, bool quiet);

}  // namespace service

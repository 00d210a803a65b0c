#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "service/client/estimation_input.hpp"
#include "service/client/remote/remote_calibration.hpp"
#include "service/convert/parameter_edits.hpp"
#include "service/convert/recording_pieces.hpp"

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

/// What `rigcal simulate` is told.
struct SimulateOptions {
  std::string rig;
  std::string scenario;
  std::string out;
  // SPOOK is of first order: at 0.1 ms a Furuta pendulum strays by about 0.01 rad in 3 s.
  double step = 1e-4;  ///< [s]
  ParameterEdits edits;
};

/// Adds a command's options. `options` must outlive the parsing.
void add_options(CLI::App& command, CalibrateOptions& options);
void add_options(CLI::App& command, CheckOptions& options);
void add_options(CLI::App& command, CrossvalidateOptions& options);
void add_options(CLI::App& command, SimulateOptions& options);

}  // namespace service

#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/design/prior_information.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Information about a rig before its next experiment.
struct PriorState {
  Rig rig;  ///< rig with values and free parameters of the last result
  estimator::PriorInformation knowledge;
  /// Standard deviations of the free parameters from the last result or from priors; infinite for a
  /// parameter without information.
  Eigen::VectorXd deviations;
  std::vector<estimator::Recording> recordings;  ///< recordings of the last result, if readable
  bool is_estimated = false;  ///< false: values are the rig file's and may be far off
  Eigen::VectorXd noise;      ///< standard deviation of each encoder's noise [rad or m]
  Eigen::VectorXd quantum;    ///< one count if quantization dominates the noise, else 0 [rad or m]
  std::vector<std::string> notes;
};

/// Loads the information about a rig before its next experiment.
/// @param rig_path  the rig file
/// @param result    file written by `rigcal calibrate --json`; empty: use only the rig file
/// @param values    result file that provides only values, if `result` is empty; if both are empty,
/// the values are the rig file's
/// @throws proto::InputError for an invalid file, and for a result of another rig
PriorState load_prior_state(const std::string& rig_path, const std::string& result,
                            const std::string& values = "");

}  // namespace service

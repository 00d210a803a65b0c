#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/design/prior_information.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Prior state of a rig: what is known before its next experiment.
struct PriorState {
  Rig rig;  ///< with the values and the free parameters of the last result
  estimator::PriorInformation knowledge;
  /// Standard deviations of the free parameters by the last result or priors; infinite: unknown.
  Eigen::VectorXd deviations;
  std::vector<estimator::Recording> recordings;  ///< of the last result, if readable
  bool is_estimated = false;  ///< else the values are the rig file's and may be far off
  Eigen::VectorXd noise;      ///< standard deviation of a reading, one per encoder [rad or m]
  Eigen::VectorXd quantum;    ///< one count if quantization dominates the noise, else 0
  std::vector<std::string> notes;
};

/// Loads the prior state.
/// @param rig_path  the rig file
/// @param result    file written by `rigcal calibrate --json`; empty: use the rig file only
/// @param values    result that only gives values, if `result` is empty; empty: the rig file's
///         values
/// @throws proto::InputError, also for a result of another rig
PriorState load_prior_state(const std::string& rig_path, const std::string& result,
                            const std::string& values = "");

}  // namespace service

#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/design/knowledge.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// What is known of a rig before its next experiment.
struct Today {
  Rig rig;  ///< with the values of the last result, and its choice of what is free
  estimator::Knowledge knowledge;
  /// Of each free parameter, by the last result or the priors; infinite: nothing is known.
  Eigen::VectorXd deviations;
  std::vector<estimator::Recording> recordings;  ///< of the last result, where they still are
  bool is_estimated = false;  ///< else values are the rig file's, and could be anything
  Eigen::VectorXd noise;      ///< standard deviation of a reading, one a sensor [rad or m]
  Eigen::VectorXd quantum;    ///< one count, where counting is what makes the noise; 0: it is not
  std::vector<std::string> notes;
};

/// @param rig_path  the rig file
/// @param result    what `rigcal calibrate --json` wrote; empty: only the rig file is there
/// @param values    a result whose values count alone, where there is no `result`; empty: those of
///                  the rig file
/// @throws proto::InputError, also for a result that is of another rig
Today look_at(const std::string& rig_path, const std::string& result,
              const std::string& values = "");

}  // namespace service

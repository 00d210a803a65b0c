#pragma once

#include <string>
#include <vector>

#include "estimator/design/design.hpp"
#include "service/design/experiment.hpp"

namespace service {

/// What an experiment is to find, but for its targets and for what its commands are made of.
struct PosedTask {
  estimator::DesignTask task;
  int motor = 0;  ///< joint that is driven
  std::vector<std::string> notes;
};

/// As the rig file and the request have it: what is known, where the run begins, its limits.
/// @throws proto::InputError as design_experiment
PosedTask pose_task(const Today& today, const ExperimentRequest& request);

}  // namespace service

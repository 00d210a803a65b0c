#pragma once

#include <string>
#include <vector>

#include "estimator/design/design.hpp"
#include "service/design/experiment.hpp"

namespace service {

/// Design task without targets and signals.
struct DesignSetup {
  estimator::DesignTask task;
  int motor = 0;  ///< index of the driven joint
  std::vector<std::string> notes;
};

/// Sets up the design task of a request: prior information, initial coordinates and limits.
/// @throws proto::InputError as design_experiment
DesignSetup make_design_setup(const PriorState& today, const ExperimentRequest& request);

}  // namespace service

#pragma once

#include <string>
#include <vector>

#include "estimator/design/design.hpp"
#include "service/design/experiment.hpp"

namespace service {

/// Task of designing an experiment, without its targets and its signals.
struct DesignSetup {
  estimator::DesignTask task;
  int motor = 0;  ///< index of the driven joint
  std::vector<std::string> notes;
};

/// Returns the design task of a request, with prior information, initial coordinates and limits.
/// @throws proto::InputError under the conditions of design_experiment
DesignSetup make_design_setup(const PriorState& today, const ExperimentRequest& request);

}  // namespace service

#pragma once

#include <string>

#include "service/design/experiment.hpp"

namespace service {

/// Returns a text table of the free parameters of an experiment: standard deviations before and
/// after, targets, and whether each requested precision is predicted to be reached.
std::string format_experiment(const Experiment& experiment);

}  // namespace service

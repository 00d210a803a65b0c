#pragma once

#include <string>

#include "service/design/experiment.hpp"

namespace service {

/// Returns a table of the free parameters: standard deviations now and after the run, targets, and
/// whether the requested precision is reached.
std::string format_experiment(const Experiment& experiment);

}  // namespace service

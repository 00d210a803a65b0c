#pragma once

#include <string>

#include "service/design/experiment.hpp"

namespace service {

/// For people: what each free parameter is known to now and will be after the run, targets marked,
/// and whether that is what was asked for.
std::string format_experiment(const Experiment& experiment);

}  // namespace service

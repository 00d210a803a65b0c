#pragma once

#include <vector>

#include "estimator/assess/finding.hpp"
#include "estimator/doctor/signal_examination.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// What the rig file says of the sensors whose readings are used.
estimator::SensorFacts sensor_facts(const Rig& rig);

/// Adds the line of the rig file to the advice of findings about a column or an encoder: what one
/// changes there is the cure, or the place to look at first.
void name_places(const Rig& rig, std::vector<estimator::Finding>& findings);

}  // namespace service

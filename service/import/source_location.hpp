#pragma once

#include <vector>

#include "estimator/assess/finding.hpp"
#include "estimator/diagnostics/signal_examination.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Returns the rig file's data on the sensors in use.
estimator::SensorDescription sensor_facts(const Rig& rig);

/// Appends the rig file's line to the advice of findings on a column or an encoder, as the place to
/// check or correct.
void add_source_locations(const Rig& rig, std::vector<estimator::Finding>& findings);

}  // namespace service

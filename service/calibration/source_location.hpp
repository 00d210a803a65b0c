#pragma once

#include <vector>

#include "estimator/assessment/finding.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns what the rig file says about the sensors in use.
estimator::SensorDescription sensor_facts(const Rig& rig);

/// Appends to the advice of each finding on a column or an encoder the line of the rig file to
/// check or correct.
void add_source_locations(const Rig& rig, std::vector<estimator::Finding>& findings);

}  // namespace service

#pragma once

#include <vector>

#include "proto/recording/recording_types.hpp"

namespace proto {

/// Returns the time at which a hand released the rig [s]; −∞ if no hand held it, ∞ if it was never
/// released. Before this time the samples do not show the rig's own motion.
double find_release(const std::vector<Event>& events);

}  // namespace proto

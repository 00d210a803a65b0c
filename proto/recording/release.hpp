#pragma once

#include <vector>

#include "proto/recording/recording_types.hpp"

namespace proto {

/// Returns when the hand released the rig; earlier samples are not the rig's own motion. −∞ if no
/// hand held it, ∞ if it was never released.
double find_release(const std::vector<Event>& events);

}  // namespace proto

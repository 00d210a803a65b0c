#pragma once

#include <vector>

#include "proto/recording/recording_types.hpp"

namespace proto {

/// When the hand let the rig go, in a release; what lies before is not the rig's own motion. −∞
/// where no hand was waited for, ∞ where it never let go.
double find_release(const std::vector<Event>& events);

}  // namespace proto

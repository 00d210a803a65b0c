#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns whether a name matches a pattern, in which * stands for any characters.
bool matches(std::string_view name, std::string_view pattern);

/// Returns the bodies that are absent in a recording (Body::present_in_recordings), ascending.
/// @param recording  name of the recording or of its file
std::vector<int> bodies_absent_in(const Mechanism& mechanism, const std::string& recording);

/// Returns a note for every Body::present_in_recordings pattern that matches no recording.
std::vector<Message> find_unmatched_patterns(const Mechanism& mechanism,
                                             const std::vector<Recording>& recordings);

}  // namespace estimator

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Whether a name matches a pattern, in which * stands for any characters.
bool matches(std::string_view name, std::string_view pattern);

/// Bodies missing in a recording with this name or file name (Body::present_in_recordings),
/// ascending.
std::vector<int> bodies_absent_in(const Mechanism& mechanism, const std::string& recording);

/// Returns a sentence for every pattern that matches none of the recordings.
std::vector<std::string> describe_unmatched_patterns(const Mechanism& mechanism,
                                                     const std::vector<Recording>& recordings);

}  // namespace estimator

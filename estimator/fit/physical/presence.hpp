#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Whether a name is that of a pattern, in which * stands for any characters.
bool matches(std::string_view name, std::string_view pattern);

/// Bodies that are not there in a recording of this name, or of a file called so (Body::only_in),
/// in order.
std::vector<int> bodies_absent_in(const Mechanism& mechanism, const std::string& recording);

/// A sentence for every pattern that none of the recordings is called by.
std::vector<std::string> tell_absent(const Mechanism& mechanism,
                                     const std::vector<Recording>& recordings);

}  // namespace estimator

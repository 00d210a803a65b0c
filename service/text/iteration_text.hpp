#pragma once

#include <string>

namespace service {

/// Returns a progress line of an optimization, e.g. "joint estimation: iteration 3  cost 12.5
/// gradient 0.1".
///
/// @param cost_has_changed  whether to note that the cost function differs from the previous line's
std::string iteration_text(const std::string& stage, int iteration, double cost, double gradient,
                           bool cost_has_changed);

}  // namespace service

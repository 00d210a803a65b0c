#pragma once

#include <string>

namespace service {

/// Returns a progress line, "joint estimation: iteration 3  cost 12.5  gradient 0.1".
///
/// @param cost_has_changed  the cost function has changed since the last line; the text notes it
std::string iteration_text(const std::string& stage, int iteration, double cost, double gradient,
                           bool cost_has_changed);

}  // namespace service

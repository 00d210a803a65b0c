#pragma once

#include <string>

namespace service {

/// "joint estimation: iteration 3  cost 12.5  gradient 0.1" of a calibration under way.
///
/// @param another_problem  whether the costs told before are of another one, which the text says
std::string iteration_text(const std::string& stage, int iteration, double cost, double gradient,
                           bool another_problem);

}  // namespace service

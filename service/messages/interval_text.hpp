#pragma once

#include <string>

#include "estimator/calibrate/bootstrap.hpp"

namespace service {

/// Returns a sentence, without full stop, on whether the bootstrap confirms the reported intervals.
std::string describe_interval_verdict(const estimator::Bootstrap& bootstrap);

}  // namespace service

#pragma once

#include <string>

#include "estimator/calibrate/bootstrap.hpp"

namespace service {

/// Describes whether the reported intervals hold, as a sentence without its full stop.
std::string describe_interval_verdict(const estimator::Bootstrap& bootstrap);

}  // namespace service

#pragma once

#include <string>

#include "estimator/calibrate/calibration.hpp"
#include "service/import/parameter_prior.hpp"

namespace service {

/// One parameter on an axis of its own: its 95 % interval (bar) and estimate (dot), the prior's 95
/// % (band) where there is one, bounds that lie on the axis (ticks), and the start (ring, or an
/// arrow to where it lies off the axis). The axis spans the interval and the prior. A parameter
/// that the data do not see is a dashed line; one at a bound has no bar.
std::string svg_interval(const estimator::ParameterEstimate& estimate, const ParameterPrior& prior);

}  // namespace service

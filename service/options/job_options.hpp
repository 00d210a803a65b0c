#pragma once

#include "estimator/fit/fit_options.hpp"
#include "proto/service.pb.h"
#include "service/recordings/recording_selection.hpp"

namespace service {

/// Returns the calibration options of a service job. Missing options have the estimator's default.
/// @throws proto::InputError for an invalid option
estimator::CalibrationOptions calibration_options(const rigcal::v1::JobOptions& message);

/// Returns the part of a recording that a service job uses.
/// @throws proto::InputError if the end is before the start
Selection selection_of(const rigcal::v1::JobRecording& recording);

}  // namespace service

#pragma once

#include "estimator/fit/fit_options.hpp"
#include "proto/service.pb.h"
#include "service/import/recording_selection.hpp"

namespace service {

/// Returns the options of a job; missing ones keep the estimator's default.
/// @throws proto::InputError for an invalid choice
estimator::CalibrationOptions calibration_options(const rigcal::v1::JobOptions& message);

/// Returns the part of a recording that a job uses.
/// @throws proto::InputError for times in the wrong order
Selection selection_of(const rigcal::v1::JobRecording& recording);

}  // namespace service

#pragma once

#include "estimator/fit/fit_options.hpp"
#include "proto/service.pb.h"
#include "service/import/recording_selection.hpp"

namespace service {

/// What a job asks of the estimator; what it leaves out is the estimator's choice.
/// @throws proto::InputError for a word that is none of its choices
estimator::CalibrationOptions calibration_options(const rigcal::v1::JobOptions& message);

/// What of a recording a job uses.
/// @throws proto::InputError for times in the wrong order
Selection selection_of(const rigcal::v1::JobRecording& recording);

}  // namespace service

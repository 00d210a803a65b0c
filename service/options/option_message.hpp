#pragma once

#include "estimator/fit/fit_options.hpp"
#include "proto/service.pb.h"

namespace service {

/// Returns calibration options as a Protobuf message.
/// @param all  whether to include options with their default value
google::protobuf::Struct make_options_message(const estimator::CalibrationOptions& options,
                                              bool all);

/// Reads calibration options from a Protobuf message. Missing options get their defaults.
/// @param where           location of the message, for errors
/// @param ignore_unknown  whether to ignore options that this version does not have
estimator::CalibrationOptions read_calibration_options(const google::protobuf::Struct& message,
                                                       const std::string& where,
                                                       bool ignore_unknown);

/// Reads the calibration options of a service job.
estimator::CalibrationOptions read_job_options(const rigcal::v1::JobSpec& spec);

}  // namespace service

#pragma once

#include "estimator/fit/fit_options.hpp"
#include "proto/service.pb.h"

namespace service {

/// Returns a message with all options, or with those that differ from their default.
google::protobuf::Struct options_message(const estimator::CalibrationOptions& options, bool all);

/// Returns the options in a message. Missing options have the estimator's default.
/// @param where           place of the message, for errors
/// @param ignore_unknown  ignore options that this version does not have
/// @throws proto::InputError for an invalid value or an unknown option
estimator::CalibrationOptions read_options(const google::protobuf::Struct& message,
                                           const std::string& where, bool ignore_unknown);

/// Returns the options of a service job.
/// @throws proto::InputError for an invalid option
estimator::CalibrationOptions job_options(const rigcal::v1::JobSpec& spec);

}  // namespace service

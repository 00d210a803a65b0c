#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "estimator/model/parameter.hpp"
#include "proto/text/text_file.hpp"

namespace service {

/// Reads a parameter from the field `field` of `message` into `target`, which must contain the
/// default value and the physical bounds. A missing field leaves `target` unchanged.
/// @return whether the field has a value
/// @throws proto::InputError for a value outside the physical bounds
bool read_parameter(const google::protobuf::Message& message, const char* field,
                    const proto::TextLocator& parent, estimator::Parameter& target);

/// Checks whether the parameter in field `field` of `message` has a negative value or lower bound.
bool goes_below_zero(const google::protobuf::Message& message, const char* field);

}  // namespace service

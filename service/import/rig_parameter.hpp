#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "estimator/model/parameter.hpp"
#include "proto/text/text_file.hpp"

namespace service {

/// Reads the `field` of `message` into `target`, which has a default value and physical bounds. A
/// missing field changes nothing.
/// @return whether the field has a value
/// @throws proto::InputError for values that the quantity cannot have
bool read_parameter(const google::protobuf::Message& message, const char* field,
                    const proto::TextLocator& parent, estimator::Parameter& target);

/// Whether the `field` of `message` has a negative value or lower bound.
bool goes_below_zero(const google::protobuf::Message& message, const char* field);

}  // namespace service

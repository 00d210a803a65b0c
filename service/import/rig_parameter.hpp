#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "estimator/model/parameter.hpp"
#include "proto/text/text_file.hpp"

namespace service {

/// Reads the `field` of `message` into `target`, which holds the neutral value and the bounds of
/// physics. A field that is left out changes nothing.
/// @return whether it gives a value
/// @throws proto::InputError where it holds what no such quantity can be
bool read_parameter(const google::protobuf::Message& message, const char* field,
                    const proto::TextLocator& parent, estimator::Parameter& target);

/// Whether the `field` of `message` is stated with a value or a lower bound below zero.
bool goes_below_zero(const google::protobuf::Message& message, const char* field);

}  // namespace service

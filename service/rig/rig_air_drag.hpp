#pragma once

#include <functional>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Function that reads a parameter from a field of a message, if the message has the field.
using ReadParameter =
    std::function<void(const google::protobuf::Message& message, const char* field,
                       const proto::TextLocator& where, estimator::Parameter& parameter)>;

/// Reads the air drag parameters of a body from the rig file.
/// @param place  location of the body's air_drag in the rig file
/// @throws proto::InputError for a drag point without a drag coefficient
void read_air_drag(const rigcal::v1::Rig& rig, int body, const proto::TextLocator& place,
                   estimator::Mechanism& mechanism, const ReadParameter& read);

}  // namespace service

#pragma once

#include <functional>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Reads a parameter that a field of a message may state.
using ReadParameter =
    std::function<void(const google::protobuf::Message& message, const char* field,
                       const proto::TextLocator& where, estimator::Parameter& parameter)>;

/// Reads what the air does to a body.
/// @param place  of its air_drag
/// @throws proto::InputError where a point is given and no drag
void read_air_drag(const rigcal::v1::Rig& rig, int body, const proto::TextLocator& place,
                   estimator::Mechanism& mechanism, const ReadParameter& read);

}  // namespace service

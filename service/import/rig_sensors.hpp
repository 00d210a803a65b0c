#pragma once

#include <functional>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Refuses a name that is taken, or none. @param kind  for people
using NameCheck =
    std::function<void(const std::string& name, const char* kind, const proto::TextLocator& place)>;

/// Reads a field that holds a Parameter.
using ParameterRead =
    std::function<void(const google::protobuf::Message& message, const char* field,
                       const proto::TextLocator& place, estimator::Parameter& parameter)>;

/// Adds a rig file's sensors other than encoders to the mechanism: inertial ones, then those of
/// torque, then those of force and torque, each in their order.
/// @throws proto::InputError for one on no body or at no joint, or that reads nothing
void add_sensors(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                 estimator::Mechanism& mechanism, const NameCheck& check_name);

/// Reads their parameters, which the mechanism has by now.
void read_sensors(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                  estimator::Mechanism& mechanism, const ParameterRead& read);

}  // namespace service

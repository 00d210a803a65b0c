#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/recording/recording_rules.hpp"
#include "proto/service.pb.h"

namespace service {

/// The metadata of a session, by key.
using SessionMetadata = google::protobuf::Map<std::string, std::string>;

/// What a session's metadata names.
struct SessionNames {
  std::vector<std::string> hinges;
  std::vector<std::string> slides;  ///< of these
  std::vector<std::string> inertial_sensors;
  std::vector<std::string> motors;
  std::vector<std::string> command_units;  ///< of these

  bool operator==(const SessionNames&) const = default;
  proto::RecordingShape shape() const {
    return {hinges.size(), inertial_sensors.size(), motors.size()};
  }
};

/// Nothing where the names cannot be a recording's.
std::optional<SessionNames> names_of(const SessionMetadata& metadata);

}  // namespace service

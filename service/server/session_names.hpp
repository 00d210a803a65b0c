#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/recording/recording_rules.hpp"
#include "proto/service.pb.h"

namespace service {

/// The metadata of a session, by key.
using SessionMetadata = google::protobuf::Map<std::string, std::string>;

/// The names in a session's metadata.
struct SessionNames {
  std::vector<std::string> joints;
  std::vector<std::string> slides;  ///< the prismatic joints among `joints`
  std::vector<std::string> inertial_sensors;
  std::vector<std::string> motors;
  std::vector<std::string> command_units;  ///< of the motors

  bool operator==(const SessionNames&) const = default;
  proto::RecordingShape shape() const {
    return {joints.size(), inertial_sensors.size(), motors.size()};
  }
};

/// Returns nothing if the names are invalid in a recording.
std::optional<SessionNames> names_of(const SessionMetadata& metadata);

}  // namespace service

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/recording/recording_rules.hpp"
#include "proto/service.pb.h"

namespace service {

/// Metadata of a session: a value for each key.
using SessionMetadata = google::protobuf::Map<std::string, std::string>;

/// Names of joints, sensors and motors in the metadata of a session.
struct SessionNames {
  std::vector<std::string> joints;
  std::vector<std::string> slides;  ///< names of the prismatic joints among `joints`
  std::vector<std::string> inertial_sensors;
  std::vector<std::string> motors;
  std::vector<std::string> command_units;  ///< unit of each motor's command

  bool operator==(const SessionNames&) const = default;
  proto::RecordingShape shape() const {
    return {joints.size(), inertial_sensors.size(), motors.size()};
  }
};

/// Reads the names from the metadata of a session.
/// @return nullopt if the names are not valid in a recording
std::optional<SessionNames> names_of(const SessionMetadata& metadata);

}  // namespace service
